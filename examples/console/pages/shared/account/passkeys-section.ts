import { passkeys } from 'postern/client/passkeys'
import { actionButton } from '../action-button.ts'
import { isConfirmed } from '../confirm-dialog.ts'
import type { Child } from '../element.ts'
import { field } from '../field.ts'
import { form } from '../form.ts'
import type { PageContext } from '../page.ts'
import { section } from '../section.ts'
import { table } from '../table.ts'
import { timeText } from '../time-text.ts'
import { ownerProof } from './owner-proof.ts'

/** The passkeys of the account: adds and removes them. */
export function passkeysSection(context: PageContext): HTMLElement {
  const { client } = context
  return section('Passkeys', async (body) => {
    const [{ items }, options] = await Promise.all([
      client.call('GET /webauthn/credentials'),
      context.options(),
    ])
    body.append(
      table({
        caption: 'Your passkeys',
        heads: ['Name', 'Since', 'Last used', 'Change'],
        rows: items.map(({ credentialId, name, createdAt, lastUsedAt }): readonly Child[] => [
          name,
          timeText(createdAt),
          timeText(lastUsedAt),
          removal(context, credentialId, name),
        ]),
        none: 'There is none yet.',
      }),
    )
    if (options.passkeys !== 'off') body.append(await addition(context))
  })
}

async function addition({ client, announce, reload }: PageContext): Promise<HTMLElement> {
  const proof = await ownerProof(client)
  const name = field({
    name: 'name',
    label: 'Name of the new passkey',
    hint: 'Such as “Work laptop”.',
    attributes: { required: true, maxlength: 64 },
  })
  return form({
    fields: [name, ...proof.fields],
    submit: 'Add a passkey',
    fieldOf: { invalid_credentials: 'currentPassword' },
    onSubmit: async () => {
      await passkeys(client).add({ name: name.input.value, ...proof.input() })
      announce('The passkey is added.')
      reload()
    },
  })
}

function removal(context: PageContext, credentialId: string, name: string): HTMLElement {
  const { client, announce, reload } = context
  return actionButton({
    label: 'Remove',
    attributes: { 'aria-label': `Remove ${name}` },
    run: async () => {
      const isWanted = await isConfirmed({
        title: `Remove ${name}?`,
        text: 'It no longer signs you in here. Delete it on the device as well.',
        action: 'Remove',
      })
      if (!isWanted) return
      await client.call('DELETE /webauthn/credentials/{credentialId}', { credentialId })
      announce('The passkey is removed.')
      reload()
    },
  })
}
