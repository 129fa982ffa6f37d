import { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { accountRules } from './account-rules.ts'
import type { OperatorGuards } from './operator-guards.ts'
import { surfaceIn } from './read-input.ts'

/** Ends the sessions of users. They are listed with the user. */
export function sessionRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()
  const rules = accountRules(auth)
  const changes = guards.changes('console.users.manage')

  router.delete('/users/:surface/:id/sessions', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { id } = await rules.subordinate(guards.principalOf(request), surface, request.params.id)
    await auth[surface].terminateSessionsOf(id, guards.actorOf(request))
    response.status(204).end()
  })

  router.delete('/users/:surface/:id/sessions/:sessionId', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { id } = await rules.subordinate(guards.principalOf(request), surface, request.params.id)
    const { sessionId } = request.params
    const sessions = await auth[surface].sessions.list(id)
    if (!sessions.some((session) => session.id === sessionId)) {
      throw new AuthError('session_not_found')
    }
    // False where it had ended meanwhile, which is what the caller wanted.
    await auth[surface].terminateSession(sessionId, guards.actorOf(request))
    response.status(204).end()
  })
  return router
}
