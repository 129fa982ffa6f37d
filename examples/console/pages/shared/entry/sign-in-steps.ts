import type { ClientCalls, ReplyOf } from 'postern/client'
import { passkeys } from 'postern/client/passkeys'
import { actionButton } from '../action-button.ts'
import { browserName } from '../browser-text.ts'
import { backupCodeField, codeField, codeOf } from '../code-field.ts'
import { type Child, element } from '../element.ts'
import { type Field, field } from '../field.ts'
import { form } from '../form.ts'
import type { PageContext } from '../page.ts'
import { backLink } from './back-link.ts'
import { enrolmentStep } from './enrolment-step.ts'
import { newPasswordForm } from './new-password-form.ts'

type LoginReply = ReplyOf<ClientCalls['POST /login/mfa']>
type Asked = Extract<LoginReply, { status: 'mfaRequired' }>

/** Goes on with a login where its answer leaves it. A complete one is the router's: it shows the next page. */
export async function nextStep(
  reply: LoginReply,
  main: HTMLElement,
  context: PageContext,
): Promise<void> {
  if (reply.status === 'mfaRequired') secondFactorStep(reply, main, context)
  else if (reply.status === 'mfaEnrollmentRequired') {
    const step = await enrolmentStep(reply.mfaToken, context)
    show(main, 'Add a second factor', step, back(context))
  } else if (reply.status === 'passwordChangeRequired') {
    const form = newPasswordForm(context, await context.options(), reply.passwordToken)
    show(main, 'Your password is too old', form, back(context))
  }
}

function show(main: HTMLElement, title: string, ...children: readonly Child[]): void {
  const heading = element('h2', { tabindex: -1 }, title)
  main.replaceChildren(heading, element('div', { class: 'stack' }, ...children))
  const input = main.querySelector('input')
  if (input === null) heading.focus()
  else input.focus()
}

function secondFactorStep(asked: Asked, main: HTMLElement, context: PageContext): void {
  const has = (method: Asked['methods'][number]) => asked.methods.includes(method)
  const trust = field({
    name: 'trustDevice',
    label: 'Do not ask for this in this browser for a while',
    attributes: { type: 'checkbox' },
  })
  const trusted = () => ({
    trustDevice: trust.input.checked,
    deviceName: browserName(navigator.userAgent) ?? 'Browser',
  })
  const passkeyButton = () =>
    actionButton({
      label: 'Use a passkey',
      run: async () => {
        const login = { mfaToken: asked.mfaToken, ...trusted() }
        await nextStep(await passkeys(context.client).signIn(login), main, context)
      },
    })
  const codeForm = (method: 'totp' | 'backupCode', code: Field) =>
    form({
      fields: [code],
      submit: 'Sign in',
      fieldOf: { invalid_mfa_code: 'code' },
      onSubmit: async () => {
        const input = { mfaToken: asked.mfaToken, method, code: codeOf(code), ...trusted() }
        await nextStep(await context.client.call('POST /login/mfa', input), main, context)
      },
    })
  show(
    main,
    'Your second factor',
    has('totp') && codeForm('totp', codeField()),
    has('webauthn') && passkeyButton(),
    context.surface === 'client' && trust.row,
    has('backupCode') &&
      element(
        'details',
        {},
        element('summary', {}, 'Use a backup code'),
        codeForm('backupCode', backupCodeField()),
      ),
    back(context),
  )
}

/** To the sign-in in the place of the page that was asked for; it is shown there again after the sign-in. */
function back({ fragment }: PageContext): HTMLElement {
  // The ticket of a provider's sign-in came with the address, and would be shown again.
  return backLink(fragment.has('ticket') ? '/login' : location.pathname + location.search)
}
