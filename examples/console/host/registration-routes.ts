import { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { z } from 'zod'
import type { OperatorGuards } from './operator-guards.ts'
import { pageForm, readInput, startOf, surfaceIn } from './read-input.ts'
import type { RegistrationsReply } from './replies.ts'

const query = z.strictObject(pageForm)

/** Registrations that wait for the link in a mail to be opened. */
export function registrationRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()
  const reads = guards.reads('console.users.read')
  const changes = guards.changes('console.users.manage')

  router.get('/registrations/:surface', reads, async (request, response) => {
    const { registrations, users } = auth[surfaceIn(request.params)]
    const { next, ...page } = await registrations.list(startOf(readInput(query, request.query)))
    const owners = await Promise.all(page.registrations.map((one) => users.findByEmail(one.email)))
    // The library keeps registrations of other browsers until they expire, though the address has its account by now.
    const waiting = page.registrations.filter((_one, index) => owners[index] === null)
    response.json({ registrations: waiting, next } satisfies RegistrationsReply)
  })

  router.post('/registrations/:surface/:id/resend', changes, async (request, response) => {
    const { registrations } = auth[surfaceIn(request.params)]
    const sent = await registrations.resend(request.params.id, guards.actorOf(request))
    if (!sent) throw new AuthError('not_found')
    response.status(204).end()
  })

  router.delete('/registrations/:surface/:id', changes, async (request, response) => {
    const { registrations } = auth[surfaceIn(request.params)]
    if (!(await registrations.remove(request.params.id))) throw new AuthError('not_found')
    response.status(204).end()
  })
  return router
}
