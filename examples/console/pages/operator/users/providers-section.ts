import type { ShownIdentity } from '../../../host/replies.ts'
import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { type Child, element } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext } from '../operator-page.ts'
import { timeOf } from '../shared/time-of.ts'
import { pathOf, type UserOnPage } from './user-on-page.ts'

/** The accounts of identity providers that sign the user in. */
export function providersSection(context: OperatorContext, shown: UserOnPage): HTMLElement {
  const { operator, announce, reload } = context
  const unlink = ({ id, provider }: ShownIdentity) =>
    actionButton({
      label: 'Unlink …',
      attributes: { 'aria-label': `Unlink ${provider}` },
      run: async () => {
        const isWanted = await isConfirmed({
          title: `Unlink ${provider}?`,
          text: 'The account there no longer signs the user in. The user gets a mail.',
          action: 'Unlink',
        })
        if (!isWanted) return
        await hostCall(operator, 'DELETE', `${pathOf(shown)}/identities/${id}`)
        announce(`${provider} is unlinked.`)
        reload()
      },
    })
  return section('Linked providers', (body) => {
    body.append(
      table({
        caption: 'Accounts at providers that sign the user in',
        heads: ['Provider', 'Its id for the user', 'Linked', 'Change'],
        rows: shown.identities.map((one): readonly Child[] => [
          one.provider,
          element('code', {}, one.subject),
          timeOf(one.linkedAt),
          shown.isSelf ? '–' : unlink(one),
        ]),
        none: 'There is none.',
      }),
    )
  })
}
