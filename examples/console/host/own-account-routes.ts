import express, { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { expressGuards } from 'postern/express'
import { z } from 'zod'
import { answerErrors } from './answer-errors.ts'
import { readInput } from './read-input.ts'
import type { OwnSessionsReply } from './replies.ts'

const unlinking = { provider: z.string(), currentPassword: z.string().optional() }
const linking = { ...unlinking, redirectUri: z.string() }

/** An end user's own sessions and providers. The library has routes for this on the operator surface alone. */
export function ownAccountRoutes(auth: Auth): Router {
  const { requireUser, principalOf } = expressGuards(auth.client)
  const { sessions, identities } = auth.client
  const user = requireUser()
  const from = (request: express.Request) => ({
    ip: request.ip,
    userAgent: request.get('user-agent'),
  })
  return Router()
    .use(express.json({ limit: '16kb' }))
    .get('/sessions', user, async (request, response) => {
      const { userId, sessionId } = principalOf(request)
      const shown = (await sessions.list(userId)).map((one) => ({
        ...one,
        current: one.id === sessionId,
      }))
      response.set('Cache-Control', 'no-store')
      response.json({ sessions: shown } satisfies OwnSessionsReply)
    })
    .delete('/sessions/:id', user, async (request, response) => {
      await sessions.terminate(principalOf(request), String(request.params['id']), from(request))
      response.status(204).end()
    })
    .post('/identities', user, async (request, response) => {
      const given = readInput(z.strictObject(linking), request.body)
      const { headers, ...begun } = await identities.startLink(
        principalOf(request),
        given,
        from(request),
      )
      response.set(headers).json(begun)
    })
    .delete('/identities', user, async (request, response) => {
      const given = readInput(z.strictObject(unlinking), request.body)
      await identities.unlink(principalOf(request), given, from(request))
      response.status(204).end()
    })
    .use(() => {
      throw new AuthError('not_found')
    })
    .use(answerErrors)
}
