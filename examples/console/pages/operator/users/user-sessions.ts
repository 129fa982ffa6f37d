import type { ShownSession } from '../../../host/replies.ts'
import { actionButton } from '../../shared/action-button.ts'
import { browserText } from '../../shared/browser-text.ts'
import { isConfirmed } from '../../shared/confirm-dialog.ts'
import type { Child } from '../../shared/element.ts'
import { hostCall } from '../../shared/host-call.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import type { OperatorContext } from '../operator-page.ts'
import { timeOf } from '../shared/time-of.ts'
import { pathOf, type UserOnPage } from './user-on-page.ts'

/** Where the user is signed in, and was in the last 90 days. */
export function userSessions(context: OperatorContext, shown: UserOnPage): HTMLElement {
  const { operator, announce, reload } = context
  const { sessions, user } = shown
  const end = (session: ShownSession) =>
    actionButton({
      label: 'End',
      attributes: { 'aria-label': `End the session of ${timeOf(session.loginAt)}` },
      run: async () => {
        await hostCall(operator, 'DELETE', `${pathOf(shown)}/sessions/${session.id}`)
        announce('The session is ended.')
        reload()
      },
    })
  const endAll = async () => {
    const isWanted = await isConfirmed({
      title: `End all sessions of ${user.email}?`,
      text: 'The user is signed out everywhere at once, and can sign in again.',
      action: 'End all',
    })
    if (!isWanted) return
    await hostCall(operator, 'DELETE', `${pathOf(shown)}/sessions`)
    announce('All sessions are ended.')
    reload()
  }
  return section('Sessions', (body) => {
    body.append(
      table({
        caption: 'Sessions of the last 90 days, newest first',
        heads: ['Since', 'Browser or app', 'Network address', 'State'],
        rows: sessions.map((session): readonly Child[] => [
          timeOf(session.loginAt),
          browserText(session.userAgent),
          session.ip ?? 'not known',
          session.active ? end(session) : 'ended',
        ]),
        none: 'There was no sign-in in the last 90 days.',
      }),
    )
    if (sessions.some(({ active }) => active)) {
      body.append(actionButton({ label: 'End all sessions …', run: endAll }))
    }
  })
}
