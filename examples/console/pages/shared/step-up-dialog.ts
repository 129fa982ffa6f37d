import type { AuthClient } from 'postern/client'
import { passkeys } from 'postern/client/passkeys'
import { actionButton } from './action-button.ts'
import { backupCodeField, codeField, codeOf } from './code-field.ts'
import { openDialog } from './dialog.ts'
import { type Child, element } from './element.ts'
import type { Field } from './field.ts'
import { form } from './form.ts'

type Client = AuthClient<'client'>

/** Has the user prove a second factor; rejects where the user leaves the dialog. */
export async function proveAgain(client: Client): Promise<void> {
  const factors = await client.call('GET /mfa')
  const hasPasskeys = factors.passkeys > 0
  if (!factors.totp.enrolled && !hasPasskeys) {
    throw new Error('sign out and in again, then do this within a few minutes.')
  }
  const isProved = await openDialog<boolean>('Confirm that it is you', (close) => [
    element('p', {}, 'This needs a proof of your second factor that is only a few minutes old.'),
    factors.totp.enrolled && codeForm(client, 'totp', codeField(), close),
    hasPasskeys &&
      actionButton({
        label: 'Use a passkey',
        run: async () => {
          await passkeys(client).stepUp()
          close(true)
        },
      }),
    factors.backupCodes.remaining > 0 && backupCode(client, close),
    element('button', { type: 'button', onclick: () => close(false) }, 'Cancel'),
  ])
  if (!isProved) throw new DOMException('The user left the dialog.', 'AbortError')
}

function codeForm(
  client: Client,
  method: 'totp' | 'backupCode',
  code: Field,
  close: (isProved: boolean) => void,
): Child {
  return form({
    fields: [code],
    submit: 'Confirm',
    fieldOf: { invalid_mfa_code: 'code' },
    onSubmit: async () => {
      await client.call('POST /step-up', { method, code: codeOf(code) })
      close(true)
    },
  })
}

function backupCode(client: Client, close: (isProved: boolean) => void): Child {
  return element(
    'details',
    {},
    element('summary', {}, 'Use a backup code'),
    codeForm(client, 'backupCode', backupCodeField(), close),
  )
}
