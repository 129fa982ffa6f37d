import { passkeys } from 'postern/client/passkeys'
import { actionButton } from '../action-button.ts'
import { element } from '../element.ts'
import { field } from '../field.ts'
import { form } from '../form.ts'
import type { Page, PageContext, SurfaceOptions } from '../page.ts'
import { forgetDeparture, noteDeparture } from './own-return.ts'
import { nextStep } from './sign-in-steps.ts'

/** Signs in with a password, a passkey alone, a mailed code or a provider, by what the surface has switched on. */
export const signInPage: Page = {
  path: '/login',
  title: 'Sign in',
  audience: 'visitor',
  async render(main, context) {
    forgetDeparture()
    const options = await context.options()
    main.append(
      ...(options.passwordLogin ? [passwordForm(main, context)] : []),
      ...(options.passkeys === 'passwordless' ? [passkeyButton(main, context)] : []),
    )
    main.append(...(await providerLinks(context, options)))
    main.append(element('p', { class: 'links' }, ...linksOf(options, context)))
  },
}

function passwordForm(main: HTMLElement, context: PageContext): HTMLElement {
  const email = field({
    name: 'email',
    label: 'E-mail address',
    attributes: { type: 'email', required: true, autocomplete: 'username' },
  })
  const password = field({
    name: 'password',
    label: 'Password',
    attributes: { type: 'password', required: true, autocomplete: 'current-password' },
  })
  return form({
    fields: [email, password],
    submit: 'Sign in',
    fieldOf: { invalid_credentials: 'password' },
    onSubmit: async () => {
      const input = { email: email.input.value, password: password.input.value }
      await nextStep(await context.client.call('POST /login', input), main, context)
    },
  })
}

function passkeyButton(main: HTMLElement, context: PageContext): HTMLElement {
  return actionButton({
    label: 'Sign in with a passkey',
    run: async () => nextStep(await passkeys(context.client).signIn(), main, context),
  })
}

/** Links, and no calls: the browser itself goes to the provider and comes back. */
async function providerLinks(context: PageContext, { providers }: SurfaceOptions) {
  if (providers.length === 0) return []
  const named = await context.client.call('GET /oauth/providers')
  const redirectUri = encodeURIComponent(`${location.origin}/signed-in`)
  const base = `/v1/auth/${context.surface}/oauth`
  return named.providers.map(({ id, name }) => {
    const href = `${base}/${encodeURIComponent(id)}/start?redirectUri=${redirectUri}`
    const attributes = { class: 'button', href, onclick: noteDeparture }
    return element('a', attributes, `Sign in with ${name}`)
  })
}

function linksOf({ passwordLogin, registrationOpen }: SurfaceOptions, { surface }: PageContext) {
  return [
    // The host of this demo offers codes to its users, and not to operators.
    surface === 'client' && element('a', { href: '/sign-in-code' }, 'Sign in by a mailed code'),
    passwordLogin && element('a', { href: '/forgot-password' }, 'Forgot your password?'),
    registrationOpen && passwordLogin && element('a', { href: '/register' }, 'Create an account'),
  ]
}
