import { element } from '../element.ts'
import type { Page, PageContext } from '../page.ts'
import { codeText } from '../problem-text.ts'
import { nextStep } from './sign-in-steps.ts'

const methodNames = ['totp', 'webauthn', 'backupCode'] as const

/** Where providers send the browser back to, after a sign-in or after linking. */
export const signedInPage: Page = {
  path: '/signed-in',
  title: 'Sign in',
  audience: 'all',
  async render(main, context) {
    const error = context.query.get('error')
    const isSignedIn = context.client.get().status === 'signedIn'
    if (error !== null) {
      const text = codeText(error) ?? 'The sign-in with the provider failed.'
      const back = element('a', { href: isSignedIn ? '/providers' : '/login' }, 'Go back')
      main.append(element('p', { class: 'error', role: 'alert' }, text), element('p', {}, back))
    } else if (context.fragment.has('ticket')) await finish(main, context)
    else context.go(isSignedIn ? '/' : '/login')
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
