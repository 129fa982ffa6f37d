import { actionButton } from '../../shared/action-button.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import { element } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import type { OperatorContext } from '../operator-page.ts'
import { pathOf, type UserOnPage } from './user-on-page.ts'

/** Deletes the account, after a question. */
export function deleteSection(context: OperatorContext, shown: UserOnPage): HTMLElement {
  const { operator, announce, go } = context
  const { surface, user } = shown
  const ask = async () => {
    const isWanted = await isConfirmed({
      title: `Delete ${user.email}?`,
      text: 'All sessions end, and everything that is kept of the user is removed, except the audit log. It cannot be undone.',
      action: 'Delete for good',
    })
    if (!isWanted) return
    await hostCall(operator, 'DELETE', pathOf(shown))
    announce(`${user.email} is deleted.`)
    go(`/users?surface=${surface}`)
  }
  return section('Delete the account', (body) => {
    const text = 'To keep the user out for a while, disable the account instead.'
    body.append(
      element('p', { class: 'soft' }, text),
      actionButton({ label: 'Delete …', attributes: { class: 'danger' }, run: ask }),
    )
  })
}
