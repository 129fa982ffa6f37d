import type { OwnSessionsReply } from '../../host/replies.ts'
import { endEverywhere } from '../shared/account/end-everywhere.ts'
import { actionButton } from '../shared/action-button.ts'
import { browserText } from '../shared/browser-text.ts'
import type { Child } from '../shared/element.ts'
import { hostCall } from '../shared/host-call.ts'
import type { Page, PageContext } from '../shared/page.ts'
import { section } from '../shared/section.ts'
import { table } from '../shared/table.ts'
import { timeText } from '../shared/time-text.ts'

/** Where the user is signed in, and was in the last 90 days; and buttons that end one or all of them. */
export const sessionsPage: Page = {
  path: '/sessions',
  title: 'Sessions',
  audience: 'user',
  render(main, context) {
    const list = section('Where you are signed in', async (body, refresh) => {
      const { sessions } = await hostCall<OwnSessionsReply>(context.client, 'GET', '/sessions')
      body.append(
        table({
          caption: 'Your sessions, newest first',
          heads: ['Since', 'Browser or app', 'Network address', 'State'],
          rows: sessions.map((session): readonly Child[] => [
            timeText(new Date(session.loginAt).toISOString()),
            browserText(session.userAgent),
            session.ip ?? 'not known',
            stateOf(session, context, refresh),
          ]),
          none: 'There is none.',
        }),
        endEverywhere(context),
      )
    })
    main.append(list)
  },
}

function stateOf(
  { id, loginAt, active, current }: OwnSessionsReply['sessions'][number],
  { client, announce }: PageContext,
  refresh: () => void,
): Child {
  if (current) return 'this one'
  if (!active) return 'ended'
  return actionButton({
    label: 'End',
    attributes: { 'aria-label': `End the session of ${timeText(new Date(loginAt).toISOString())}` },
    run: async () => {
      await hostCall(client, 'DELETE', `/sessions/${id}`)
      announce('The session is ended.')
      refresh()
    },
  })
}
