import { Router } from 'express'
import { type Auth, AuthError } from 'postern'
import { z } from 'zod'
import { accountRules } from './account-rules.ts'
import { knownPermissions } from './console-permissions.ts'
import type { OperatorGuards } from './operator-guards.ts'
import { readInput, surfaceIn, tenantForm } from './read-input.ts'
import type { BindingsReply, RolesReply } from './replies.ts'

const inTenant = z.strictObject(tenantForm)
const definition = z.strictObject({
  name: z.string().min(1).max(100),
  permissions: z.array(z.string().min(1).max(100)).max(200),
  ...tenantForm,
})

const tenantOf = ({ tenantId }: { tenantId?: string | undefined }) =>
  tenantId === undefined ? {} : { tenantId }

/** Roles of both surfaces: define, delete, list. */
export function roleRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()
  const rules = accountRules(auth)
  const reads = guards.reads('console.roles.read')
  const changes = guards.changes('console.roles.manage')

  router.get('/roles/:surface', reads, async (request, response) => {
    const surface = surfaceIn(request.params)
    const roles = await auth[surface].roles.list(tenantOf(readInput(inTenant, request.query)))
    const permissions = surface === 'operator' ? knownPermissions : []
    response.json({ roles, permissions } satisfies RolesReply)
  })

  router.put('/roles/:surface', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { name, permissions, ...rest } = readInput(definition, request.body)
    if (surface === 'operator') {
      const caller = guards.principalOf(request)
      await rules.requireHolds(caller, permissions)
      // What it is until now, under this name. A role of a tenant opens nothing of the console.
      if (rest.tenantId === undefined) await rules.requireHoldsRole(caller, { name })
    }
    const role = { name, permissions, ...tenantOf(rest) }
    response.json({ role: await auth[surface].roles.define(role, guards.actorOf(request)) })
  })

  router.delete('/roles/:surface/:roleId', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { roleId: id } = request.params
    if (surface === 'operator') await rules.requireHoldsRole(guards.principalOf(request), { id })
    const deleted = await auth[surface].roles.delete(id, guards.actorOf(request))
    if (!deleted) throw new AuthError('not_found')
    response.status(204).end()
  })
  return router
}

/** Which user or service account holds which role. */
export function bindingRoutes(auth: Auth, guards: OperatorGuards): Router {
  const router = Router()
  const rules = accountRules(auth)
  const reads = guards.reads('console.roles.read')
  const changes = guards.changes('console.roles.manage')

  router.get('/bindings/:surface/:userId', reads, async (request, response) => {
    const { roles } = auth[surfaceIn(request.params)]
    const held = await roles.bindingsOf(request.params.userId)
    const tenants = new Set([null, ...held.map(({ tenantId }) => tenantId)])
    const lists = await Promise.all([...tenants].map((tenantId) => roles.list({ tenantId })))
    const names = new Map(lists.flat().map(({ id, name }) => [id, name]))
    const bindings = held.map((one) => ({ ...one, role: names.get(one.roleId) ?? null }))
    response.json({ bindings } satisfies BindingsReply)
  })

  router.put('/bindings/:surface/:userId/:roleId', changes, async (request, response) => {
    const surface = surfaceIn(request.params)
    const { userId, roleId } = request.params
    const tenant = tenantOf(readInput(inTenant, request.body))
    const { roles } = auth[surface]
    const lists = await Promise.all([
      roles.list(),
      ...('tenantId' in tenant ? [roles.list(tenant)] : []),
    ])
    const role = lists.flat().find(({ id }) => id === roleId)
    if (role === undefined) throw new AuthError('not_found')
    if (surface === 'operator') {
      await rules.requireHolds(guards.principalOf(request), role.permissions)
    }
    await roles.bind({ userId, roleId, ...tenant }, guards.actorOf(request))
    response.status(204).end()
  })

  router.delete('/bindings/:surface/:userId/:roleId', changes, async (request, response) => {
    const { userId, roleId } = request.params
    const tenant = tenantOf(readInput(inTenant, request.query))
    const surface = surfaceIn(request.params)
    if (surface === 'operator') {
      await rules.requireHoldsRole(guards.principalOf(request), { id: roleId })
    }
    const taken = await auth[surface].roles.unbind(
      { userId, roleId, ...tenant },
      guards.actorOf(request),
    )
    if (!taken) throw new AuthError('not_found')
    response.status(204).end()
  })
  return router
}
