import { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { expressGuards } from 'postern/express'
import { answerErrors } from './answer-errors.ts'
import type { OwnSessionsReply } from './replies.ts'

/** Lists the end user's own sessions. The library has a route for this on the operator surface alone. */
export function ownSessionRoutes(auth: Auth): Router {
  const { requireUser, principalOf } = expressGuards(auth.client)
  return Router()
    .get('/sessions', requireUser(), async (request, response) => {
      const { userId, sessionId } = principalOf(request)
      const sessions = await auth.client.listSessions(userId)
      const shown = sessions.map((one) => ({ ...one, current: one.id === sessionId }))
      response.set('Cache-Control', 'no-store')
      response.json({ sessions: shown } satisfies OwnSessionsReply)
    })
    .use(() => {
      throw new AuthError('not_found')
    })
    .use(answerErrors)
}
