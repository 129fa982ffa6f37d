import type { OwnSessionsReply } from '../../host/replies.ts'
import { endEverywhere } from '../shared/account/end-everywhere.ts'
import { browserText } from '../shared/browser-text.ts'
import type { Child } from '../shared/element.ts'
import type { Page } from '../shared/page.ts'
import { section } from '../shared/section.ts'
import { table } from '../shared/table.ts'
import { timeText } from '../shared/time-text.ts'

/** Where the user is signed in, and was in the last 90 days; and a button that ends all sessions. */
export const sessionsPage: Page = {
  path: '/sessions',
  title: 'Sessions',
  audience: 'user',
  render(main, context) {
    const list = section('Where you are signed in', async (body) => {
      const response = await context.client.authFetch('/api/sessions')
      if (!response.ok) throw new Error(`the host answered ${response.status}.`)
      const { sessions }: OwnSessionsReply = await response.json()
      body.append(
        table({
          caption: 'Your sessions, newest first',
          heads: ['Since', 'Browser or app', 'Network address', 'State'],
          rows: sessions.map(({ loginAt, userAgent, ip, active, current }): readonly Child[] => [
            timeText(new Date(loginAt).toISOString()),
            browserText(userAgent),
            ip ?? 'not known',
            current ? 'this one' : active ? 'signed in' : 'ended',
          ]),
          none: 'There is none.',
        }),
        endEverywhere(context),
      )
    })
    main.append(list)
  },
}
