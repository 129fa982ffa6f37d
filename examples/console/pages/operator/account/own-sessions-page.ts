import type { InputOf, OperatorCalls, ReplyOf } from 'postern/client'
import { endEverywhere } from '../../shared/account/end-everywhere.ts'
import { actionButton } from '../../shared/action-button.ts'
import { browserText } from '../../shared/browser-text.ts'
import { type Child, element } from '../../shared/element.ts'
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
          heads: ['Since', 'Browser or app', 'Network address', 'State'],
          rows: items.map((session): readonly Child[] => [
            timeText(session.loginAt),
            browserText(session.userAgent),
            session.ip ?? 'not known',
            stateOf(session, context, refresh),
          ]),
          none: 'There is none.',
        }),
        element(
          'div',
          { class: 'buttons' },
          endOthers(items, context, refresh),
          endEverywhere(context),
        ),
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

/** A button that ends every session but the one that asks; nothing where there is no other. */
function endOthers(
  items: readonly Session[],
  { operator, announce }: OperatorContext,
  refresh: () => void,
): Child {
  const others = items.filter(({ active, current }) => active && !current)
  if (others.length === 0) return null
  return actionButton({
    label: 'End all others',
    run: async () => {
      for (const { id: sessionId } of others) {
        await operator.call('DELETE /sessions/{sessionId}', { sessionId })
      }
      announce('Your other sessions are ended.')
      refresh()
    },
  })
}
