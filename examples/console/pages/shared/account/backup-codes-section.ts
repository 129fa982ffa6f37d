import { actionButton } from '../action-button.ts'
import { showBackupCodes } from '../backup-codes-dialog.ts'
import { element } from '../element.ts'
import type { PageContext } from '../page.ts'
import { section } from '../section.ts'

/** How many backup codes are left; makes new ones. */
export function backupCodesSection({ client }: PageContext): HTMLElement {
  return section('Backup codes', async (body, refresh) => {
    const { backupCodes, totp, passkeys } = await client.call('GET /mfa')
    if (!totp.enrolled && passkeys === 0) {
      body.append(
        element('p', { class: 'soft' }, 'They come with an authenticator app or a passkey.'),
      )
      return
    }
    body.append(
      element('p', {}, `${backupCodes.remaining} left.`),
      actionButton({
        label: 'Make new codes',
        run: async () => {
          const made = await client.call('POST /mfa/backup-codes')
          await showBackupCodes(made.backupCodes)
          refresh()
        },
      }),
    )
  })
}
