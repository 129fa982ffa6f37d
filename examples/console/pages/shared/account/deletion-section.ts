import { actionButton } from '../action-button.ts'
import { openDialog } from '../dialog.ts'
import { element } from '../element.ts'
import { form } from '../form.ts'
import type { PageContext } from '../page.ts'
import { section } from '../section.ts'
import { ownerProof } from './owner-proof.ts'

/** Deletes the account, after a question. */
export function deletionSection({ client, announce }: PageContext): HTMLElement {
  const ask = async () => {
    const proof = await ownerProof(client)
    const isDeleted = await openDialog<boolean>('Delete your account?', (close) => [
      element('p', {}, 'Everything that is kept of you here is removed. It cannot be undone.'),
      form({
        fields: proof.fields,
        submit: 'Delete my account',
        isDangerous: true,
        fieldOf: { invalid_credentials: 'currentPassword' },
        beside: element('button', { type: 'button', onclick: () => close(false) }, 'Cancel'),
        onSubmit: async () => {
          await client.call('DELETE /me', proof.input())
          close(true)
        },
      }),
    ])
    if (isDeleted) announce('Your account is deleted.')
  }
  return section('Delete the account', (body) => {
    body.append(
      actionButton({ label: 'Delete my account …', attributes: { class: 'danger' }, run: ask }),
    )
  })
}
