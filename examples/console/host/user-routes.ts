import { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { z } from 'zod'
import { accountRules } from './account-rules.ts'
import type { OperatorGuards } from './operator-guards.ts'
import { pageForm, readInput, startOf, surfaceIn } from './read-input.ts'
import type { UserReply, UsersReply } from './replies.ts'

const query = z.strictObject({ ...pageForm, email: z.string().min(3).max(254).optional() })
const changed = z
  .strictObject({ name: z.string().max(100).optional(), enabled: z.boolean().optional() })
  .refine((changes) => Object.keys(changes).length > 0)
const assigned = z.strictObject({ systemRole: z.string().min(1).max(100) })

/** The users of both surfaces: find, change, disable, delete. */
export function userRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()
  const rules = accountRules(auth)
  const reads = guards.reads('console.users.read')
  const changes = guards.changes('console.users.manage')

  router.get('/users/:surface', reads, async (request, response) => {
    const { users } = auth[surfaceIn(request.params)]
    const { email, ...page } = readInput(query, request.query)
    if (email === undefined) {
      response.json((await users.list(startOf(page))) satisfies UsersReply)
      return
    }
    const found = await users.findByEmail(email)
    const people = found === null || found.kind !== '' ? [] : [found]
    response.json({ users: people, next: null } satisfies UsersReply)
  })

  router.get('/users/:surface/:id', reads, async (request, response) => {
    const surface = surfaceIn(request.params)
    const user = await rules.person(surface, request.params.id)
    const [sessions, identities] = await Promise.all([
      auth[surface].sessions.list(user.id),
      auth[surface].identities.list(user.id),
    ])
    response.json({ user, sessions, identities } satisfies UserReply)
  })

  router.patch('/users/:surface/:id', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const input = readInput(changed, request.body)
    const { id } = await rules.changeable(guards.principalOf(request), surface, request.params.id)
    const given = {
      ...(input.name === undefined ? {} : { name: input.name }),
      ...(input.enabled === undefined ? {} : { enabled: input.enabled }),
    }
    const user = await auth[surface].users.update(id, given, guards.actorOf(request))
    if (user === null) throw new AuthError('user_not_found')
    response.json({ user })
  })

  router.delete('/users/:surface/:id', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { id } = await rules.changeable(guards.principalOf(request), surface, request.params.id)
    if (!(await auth[surface].users.delete(id, guards.actorOf(request)))) {
      throw new AuthError('user_not_found')
    }
    response.status(204).end()
  })

  router.post('/users/:surface/:id/mfa-reset', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { id } = await rules.changeable(guards.principalOf(request), surface, request.params.id)
    if (!(await auth[surface].users.resetMfa(id, guards.actorOf(request)))) {
      throw new AuthError('user_not_found')
    }
    response.status(204).end()
  })

  router.delete(
    '/users/:surface/:id/identities/:identityId',
    changes,
    async (request, response) => {
      const surface = surfaceIn(request.params)
      const { id, identityId } = request.params
      const user = await rules.changeable(guards.principalOf(request), surface, id)
      await auth[surface].identities.remove(user.id, identityId, guards.actorOf(request))
      response.status(204).end()
    },
  )

  // What an operator may do is a matter of roles, so this wants the permission of the roles page.
  const assigns = guards.changes('console.roles.manage')
  router.put('/users/operator/:id/system-role', assigns, async (request, response) => {
    const { systemRole } = readInput(assigned, request.body)
    const caller = guards.principalOf(request)
    const { id } = await rules.changeable(caller, 'operator', request.params.id)
    await rules.requireMayAssign(caller, systemRole)
    const by = guards.actorOf(request)
    const user = await auth.operator.users.update(id, { systemRole }, by)
    if (user === null) throw new AuthError('user_not_found')
    response.json({ user })
  })
  return router
}
