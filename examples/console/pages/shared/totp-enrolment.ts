import { codeField, codeOf } from './code-field.ts'
import { element } from './element.ts'
import { form } from './form.ts'
import { qrCode } from './qr-code.ts'

export interface TotpEnrolment {
  /** What `POST /mfa/totp` answered. */
  readonly begun: { readonly secret: string; readonly otpauthUri: string }
  /** Sends the code that the app shows. */
  readonly confirm: (code: string) => Promise<void>
  /** What stands beside the button. */
  readonly beside?: HTMLElement
}

/** Shows the secret of an authenticator app, to scan or to type, and asks for its first code. */
export function totpEnrolment({ begun, confirm, beside }: TotpEnrolment): HTMLElement {
  const code = codeField()
  const groups = begun.secret.match(/.{1,4}/g) ?? []
  return element(
    'div',
    { class: 'stack' },
    element('p', {}, 'Scan this with your authenticator app, or type the secret into it.'),
    qrCode(begun.otpauthUri, 'QR code of the secret, which stands below as text'),
    element('p', { class: 'secret' }, groups.join(' ')),
    form({
      fields: [code],
      submit: 'Add the app',
      fieldOf: { invalid_mfa_code: 'code' },
      ...(beside && { beside }),
      onSubmit: () => confirm(codeOf(code)),
    }),
  )
}
