import { actionButton } from '../action-button.ts'
import { showBackupCodes } from '../backup-codes-dialog.ts'
import { isConfirmed } from '../confirm-dialog.ts'
import { element } from '../element.ts'
import { form } from '../form.ts'
import type { PageContext } from '../page.ts'
import { section } from '../section.ts'
import { totpEnrolment } from '../totp-enrolment.ts'
import { ownerProof } from './owner-proof.ts'

/** The authenticator app: adds it or removes it. */
export function totpSection(context: PageContext): HTMLElement {
  return section('Authenticator app', async (body, refresh) => {
    const { totp } = await context.client.call('GET /mfa')
    if (totp.enrolled) body.append(element('p', {}, 'There is one.'), removal(context))
    else await offer(body, context, refresh)
  })
}

const onlyPassword = 'Without a second factor, a stolen password is enough to sign in as you.'

async function offer(
  body: HTMLElement,
  { client, reload }: PageContext,
  refresh: () => void,
): Promise<void> {
  const proof = await ownerProof(client)
  const confirm = async (code: string) => {
    const { backupCodes } = await client.call('POST /mfa/totp/confirm', { code })
    await showBackupCodes(backupCodes)
    // Its other parts have changed with it.
    reload()
  }
  body.append(
    element('p', {}, proof.hasFactor ? 'There is none.' : onlyPassword),
    form({
      fields: proof.fields,
      submit: 'Add an authenticator app',
      fieldOf: { invalid_credentials: 'currentPassword' },
      onSubmit: async () => {
        const begun = await client.call('POST /mfa/totp', proof.input())
        const cancel = element('button', { type: 'button', onclick: refresh }, 'Cancel')
        body.replaceChildren(totpEnrolment({ begun, confirm, beside: cancel }))
        body.querySelector('input')?.focus()
      },
    }),
  )
}

function removal({ client, announce, reload }: PageContext): HTMLElement {
  return actionButton({
    label: 'Remove the app',
    run: async () => {
      const isWanted = await isConfirmed({
        title: 'Remove the authenticator app?',
        text: 'Its codes stop working, and your other sessions end.',
        action: 'Remove',
      })
      if (!isWanted) return
      await client.call('DELETE /mfa/totp')
      announce('The authenticator app is removed.')
      reload()
    },
  })
}
