import { passkeys } from 'postern/client/passkeys'
import { actionButton } from '../action-button.ts'
import { showBackupCodes } from '../backup-codes-dialog.ts'
import { element } from '../element.ts'
import type { PageContext } from '../page.ts'
import { totpEnrolment } from '../totp-enrolment.ts'

/** Adds the first second factor in the middle of a login that asks for one. The answer completes the login. */
export async function enrolmentStep(mfaToken: string, context: PageContext): Promise<HTMLElement> {
  const { client } = context
  const { passkeys: passkeyMode } = await context.options()
  const app = element('div', { class: 'stack' })
  app.append(
    actionButton({
      label: 'Add an authenticator app',
      run: async () => {
        const begun = await client.call('POST /mfa/totp', { mfaToken })
        const confirm = async (code: string) => {
          const { backupCodes } = await client.call('POST /mfa/totp/confirm', { mfaToken, code })
          await showBackupCodes(backupCodes)
        }
        app.replaceChildren(totpEnrolment({ begun, confirm }))
        app.querySelector('input')?.focus()
      },
    }),
  )
  return element(
    'div',
    { class: 'stack' },
    element('p', {}, 'Accounts here have a second factor. Add yours to go on.'),
    app,
    passkeyMode !== 'off' &&
      actionButton({
        label: 'Add a passkey',
        run: async () => {
          await passkeys(client).add({ mfaToken })
        },
      }),
  )
}
