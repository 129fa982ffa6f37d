import assert from 'node:assert/strict'
import { roleAuthorizer, type Surface, type SurfaceAuth } from '../../../src/index.js'
import { roleBindingId } from '../../../src/model/permissions.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Flow, outcomeOfCall, readStale, type Struck, threwUnavailable } from './flow.js'
import type { World } from './world.js'

const shared = {
  options: { ...withoutLimits, authorizer: roleAuthorizer() },
  expects: 'done',
  unavailable: threwUnavailable,
} as const satisfies Partial<Flow>

const permissions = ['orders.read']

/** Somebody, and a role that nobody holds, of a name that no other world has. */
async function cast(world: World) {
  const { roles } = world.host.auth[world.surface]
  const { id: userId } = await world.person()
  const role = await roles.define({ name: `support of ${userId}`, permissions })
  return { roles, userId, roleId: role.id, name: role.name }
}

/** Of a store that lags, what was made a moment ago is not there yet. */
const notYet = (struck: Struck): readonly string[] => [
  ...(readStale(struck, 'roles.get') ? ['threw not_found'] : []),
  ...(readStale(struck, 'users.get') ? ['threw user_not_found'] : []),
]

const defines: Flow = {
  ...shared,
  name: 'roles.define',
  async prepare(world) {
    const { roles } = world.host.auth[world.surface]
    const { id } = await world.person()
    const name = `buyer of ${id}`
    return {
      send: () => outcomeOfCall(() => roles.define({ name, permissions })),
      async reached() {
        const found = (await roles.list()).filter((role) => role.name === name)
        assert.deepEqual(
          found.map((role) => role.permissions),
          [permissions],
        )
      },
    }
  },
}

const redefines: Flow = {
  ...shared,
  name: 'roles.define with other permissions',
  async prepare(world) {
    const { roles, roleId, name } = await cast(world)
    return {
      send: () => outcomeOfCall(() => roles.define({ name, permissions: [] })),
      async reached() {
        assert.deepEqual((await world.stored.roles.get(roleId))?.permissions, [])
      },
    }
  },
}

const deletes: Flow = {
  ...shared,
  name: 'roles.delete',
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    await roles.bind({ userId, roleId })
    return {
      send: () => outcomeOfCall(() => roles.delete(roleId)),
      async reached() {
        assert.equal(await world.stored.roles.get(roleId), null)
        assert.deepEqual(await roles.bindingsOf(userId), [])
      },
    }
  },
}

const binds: Flow = {
  ...shared,
  name: 'roles.bind',
  mayAnswer: notYet,
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    return {
      send: () => outcomeOfCall(() => roles.bind({ userId, roleId })),
      async reached() {
        assert.equal((await roles.bindingsOf(userId)).length, 1)
      },
    }
  },
}

/** What a call leaves that was cut short, and could not take back what it had begun. */
const bindsInterrupted: Flow = {
  ...shared,
  name: 'roles.bind of what was begun and not finished',
  mayAnswer: notYet,
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    const place = { userId, roleId, tenantId: '' }
    const times = { createdAt: 0, pendingSince: 0, expiresAt: null }
    await world.stored.roleBindings.insert({ ...place, ...times, id: roleBindingId(place) })
    return {
      send: () => outcomeOfCall(() => roles.bind({ userId, roleId })),
      async reached() {
        assert.equal((await roles.bindingsOf(userId)).length, 1)
      },
    }
  },
}

const unbinds: Flow = {
  ...shared,
  name: 'roles.unbind',
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    await roles.bind({ userId, roleId })
    return {
      send: () => outcomeOfCall(() => roles.unbind({ userId, roleId })),
      async reached() {
        assert.deepEqual(await roles.bindingsOf(userId), [])
      },
    }
  },
}

const unbindsAll: Flow = {
  ...shared,
  name: 'roles.unbindAll',
  // Of a store that lags, it sees none of them.
  leavesOut: (struck) => readStale(struck, 'role_bindings.find'),
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    for (const tenantId of ['a', 'b']) await roles.bind({ userId, roleId, tenantId })
    return {
      send: () => outcomeOfCall(() => roles.unbindAll(userId)),
      async reached() {
        assert.deepEqual(await roles.bindingsOf(userId), [])
      },
    }
  },
}

async function asking<S extends Surface>(surface: SurfaceAuth<S>, bearer: string) {
  const principal = await surface.authenticate(`Bearer ${bearer}`)
  return (permission: string) => surface.requirePermission(principal, permission)
}

const decides: Flow = {
  ...shared,
  name: 'roleAuthorizer',
  unavailable: [...threwUnavailable, 'threw authorization_unavailable'],
  // Of a store that lags, the role is not bound yet.
  mayAnswer: (struck) => (readStale(struck, '') ? ['threw permission_denied'] : []),
  async prepare(world) {
    const { roles, roleId } = await cast(world)
    const who = await world.person()
    await roles.bind({ userId: who.id, roleId })
    const { bearer } = await world.signIn(who)
    const { operator, client } = world.host.auth
    const ask = await (world.surface === 'client'
      ? asking(client, bearer)
      : asking(operator, bearer))
    const may = (permission: string) => outcomeOfCall(() => ask(permission))
    return {
      send: () => may('orders.read'),
      async reached() {
        assert.equal((await may('orders.refund')).is, 'threw permission_denied')
      },
    }
  },
}

const lists: Flow = {
  ...shared,
  name: 'roles.list and roles.bindingsOf',
  async prepare(world) {
    const { roles, roleId, userId } = await cast(world)
    await roles.bind({ userId, roleId })
    const read = async () => {
      await roles.list({ tenantId: userId })
      await roles.bindingsOf(userId)
    }
    return { send: () => outcomeOfCall(read), reached: read }
  },
}

export const roleFlows: readonly Flow[] = [
  ...[defines, redefines, deletes],
  ...[binds, bindsInterrupted, unbinds, unbindsAll],
  ...[decides, lists],
]
