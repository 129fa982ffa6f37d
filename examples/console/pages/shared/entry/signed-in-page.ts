import { element } from '../element.ts'
import type { Page, PageContext } from '../page.ts'
import { codeText } from '../problem-text.ts'
import { backLink } from './back-link.ts'
import { isOwnReturn } from './own-return.ts'
import { nextStep } from './sign-in-steps.ts'

const methodNames = ['totp', 'webauthn', 'backupCode'] as const

/** Where providers send the browser back to. One that is signed in is led to the first page. */
export const signedInPage: Page = {
  path: '/signed-in',
  title: 'Sign in',
  audience: 'visitor',
  async render(main, context) {
    const isOwn = isOwnReturn(context.fragment)
    if (context.fragment.has('ticket') && isOwn) return finish(main, context)
    const text = codeText(context.query.get('error')) ?? 'The sign-in with the provider failed.'
    main.append(element('p', { class: 'error', role: 'alert' }, text), backLink())
  },
}

/** A login by a provider goes on like one by a password. */
async function finish(main: HTMLElement, context: PageContext): Promise<void> {
  const { fragment } = context
  const login = { mfaToken: fragment.get('ticket') ?? '', expiresIn: 300 }
  if (fragment.get('status') === 'mfaEnrollmentRequired') {
    return nextStep({ status: 'mfaEnrollmentRequired', ...login }, main, context)
  }
  const given = fragment.get('methods')?.split(',') ?? []
  const methods = methodNames.filter((name) => given.includes(name))
  return nextStep({ status: 'mfaRequired', ...login, methods }, main, context)
}
