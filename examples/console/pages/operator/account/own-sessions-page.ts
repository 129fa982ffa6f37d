import type { InputOf, OperatorCalls, ReplyOf } from 'postern/client'
import { endEverywhere } from '../../shared/account/end-everywhere.ts'
import { actionButton } from '../../shared/action-button.ts'
import type { Child } from '../../shared/element.ts'
import { section } from '../../shared/section.ts'
import { table } from '../../shared/table.ts'
import { timeText } from '../../shared/time-text.ts'
import type { OperatorContext, OperatorPage } from '../operator-page.ts'

type Session = ReplyOf<OperatorCalls['GET /sessions']>['items'][number]

/** Where the operator is signed in, and was in the last 90 days. */
export const ownSessionsPage: OperatorPage = {
  path: '/sessions',
  title: 'Sessions',
  audience: 'user',
  render(main, context) {
    const list = section('Where you are signed in', async (body, refresh) => {
      const { items } = await context.operator.call('GET /sessions')
      body.append(
        table({
          caption: 'Your sessions, newest first',
          heads: ['Since', 'Browser or app', 'Address', 'State'],
          rows: items.map((session): readonly Child[] => [
            timeText(session.loginAt),
            session.userAgent ?? 'not known',
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

function stateOf(session: Session, { operator, announce }: OperatorContext, refresh: () => void) {
  if (session.current) return 'this one'
  if (!session.active) return 'ended'
  const input: InputOf<OperatorCalls['DELETE /sessions/{sessionId}']> = { sessionId: session.id }
  return actionButton({
    label: 'End',
    attributes: { 'aria-label': `End the session of ${timeText(session.loginAt)}` },
    run: async () => {
      await operator.call('DELETE /sessions/{sessionId}', input)
      announce('The session is ended.')
      refresh()
    },
  })
}
