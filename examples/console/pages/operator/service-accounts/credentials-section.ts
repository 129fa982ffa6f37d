import type { ServiceAccount } from 'postern/client'
import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { append, type Child, element } from '../../shared/element.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext } from '../operator-page.ts'
import { showSecret } from './secret-dialog.ts'
import { activeOf } from './service-accounts-page.ts'

type Credential = ServiceAccount['credentials'][number]

/** The credentials of a machine: issues a second one to rotate, and revokes. */
export function credentialsSection(context: OperatorContext, account: ServiceAccount): HTMLElement {
  const active = activeOf(account).length
  return section('Credentials', (body) => {
    append(
      body,
      table({
        caption: 'Credentials, newest first',
        heads: ['Client id', 'Created', 'Last used', 'State'],
        rows: account.credentials.map((one): readonly Child[] => [
          element('code', {}, one.clientId),
          timeText(one.createdAt),
          timeText(one.lastUsedAt),
          one.status === 'active'
            ? revocation(context, account, one)
            : `revoked ${timeText(one.revokedAt)}`,
        ]),
        none: 'There is no credential.',
      }),
      element('p', { class: 'soft' }, adviceFor(active)),
      active < 2 && issue(context, account),
    )
  })
}

function adviceFor(active: number): string {
  if (active === 0) return 'Without a credential the machine gets no token.'
  if (active === 1) {
    return 'To rotate, issue a second credential, give it to the machine, and revoke the first. Both are good meanwhile.'
  }
  return 'Two are active, which is the most. When the machine uses the newer one, revoke the older.'
}

function issue({ operator, announce, reload }: OperatorContext, { id }: ServiceAccount): Child {
  return actionButton({
    label: 'Issue a credential',
    run: async () => {
      const made = await operator.call('POST /v1/admin/service-accounts/{id}/credentials', { id })
      await showSecret(made)
      announce('A credential is issued.')
      reload()
    },
  })
}

function revocation(context: OperatorContext, { id }: ServiceAccount, credential: Credential) {
  const { operator, announce, reload } = context
  const { credentialId, clientId } = credential
  return actionButton({
    label: 'Revoke …',
    attributes: { 'aria-label': `Revoke ${clientId}` },
    run: async () => {
      const isWanted = await isConfirmed({
        title: 'Revoke this credential?',
        text: `${clientId} gets no more tokens, for good. Tokens that it has go on until they expire.`,
        action: 'Revoke',
      })
      if (!isWanted) return
      const given = { id, credentialId }
      await operator.call(
        'DELETE /v1/admin/service-accounts/{id}/credentials/{credentialId}',
        given,
      )
      announce('The credential is revoked.')
      reload()
    },
  })
}
