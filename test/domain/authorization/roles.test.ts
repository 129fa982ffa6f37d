import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { type RoleAssignment, type RoleDefinition, roleAuthorizer } from '../../../src/index.js'
import { roleBindingId } from '../../../src/model/permissions.js'
import type { Backend } from '../../../src/ports/backend.js'
import { eachSampleStore } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, storedIn } from '../../support/hosts/open-host.js'
import { person, signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  peopleMay,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { type FaultyBackend, faultyBackend, withCall } from '../../support/stores/faulty-backend.js'

const read = ['orders.read']
const nobody = '01890a5d-ac96-774b-bcce-b302099a8057'

async function rig(store: FaultyBackend = faultyBackend(memory())) {
  const host = await openHost({ backend: store.backend, authorizer: peopleMay })
  const { roles, users } = host.auth.operator
  const { id: userId } = await person(host, 'operator')
  return { store, host, roles, users, userId, stored: storedIn(host, 'operator') }
}

eachSampleStore.describe('roles', (kind) => {
  it('are made, found by tenant, changed and deleted', async () => {
    const host = await openHost({}, kind)
    const { roles } = host.auth.client
    const at = host.clock.now()
    const keys = ['orders.read', 'orders.refund', 'orders.read']
    const support = await roles.define({ name: 'support', permissions: keys })
    const shown = { id: support.id, name: 'support', tenantId: null, createdAt: at, updatedAt: at }
    expect(support).toEqual({ ...shown, permissions: ['orders.read', 'orders.refund'] })
    const ofAcme = await roles.define({ name: 'support', permissions: read, tenantId: 'acme' })
    expect(ofAcme).toMatchObject({ name: 'support', tenantId: 'acme' })
    await host.auth.close()
    await host.clock.advance(1000)
    const other = await roles.define({ name: 'auditor', permissions: [] })
    const changed = await roles.define({ name: 'support', permissions: read })
    expect(changed).toEqual({ ...shown, updatedAt: at + 1000, permissions: read })
    expect(await roles.list()).toEqual([changed, other])
    expect(await roles.list({ tenantId: null })).toEqual([changed, other])
    expect(await roles.list({ tenantId: 'acme' })).toEqual([ofAcme])
    expect(await roles.list({ tenantId: 'globex' })).toEqual([])
    expect(await roles.delete(support.id)).toBe(true)
    expect(await roles.delete(support.id)).toBe(false)
    expect(await roles.list()).toEqual([other])
    expect(await roles.list({ tenantId: 'acme' })).toEqual([ofAcme])
  })

  it('are bound and taken away, everywhere and in tenants', async () => {
    const host = await openHost({}, kind)
    const { roles } = host.auth.client
    const { id: userId } = await person(host, 'client')
    const { id: other } = await person(host, 'client')
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    await host.auth.close()
    await host.clock.advance(1)
    const own = await roles.define({ name: 'boss', permissions: read, tenantId: 'acme' })
    const createdAt = host.clock.now()
    const wanted = [
      { userId, roleId },
      { userId, roleId, tenantId: 'acme' },
      { userId, roleId, tenantId: 'a:b' },
      { userId, roleId: own.id },
    ]
    for (const one of wanted) expect(await roles.bind(one)).toBe(true)
    for (const one of wanted) expect(await roles.bind(one)).toBe(false)
    await roles.bind({ userId: other, roleId })
    const held = async () =>
      (await roles.bindingsOf(userId)).map(({ roleId: of, tenantId }) => [of, tenantId])
    expect(await held()).toEqual([
      [roleId, null],
      [roleId, 'a:b'],
      [roleId, 'acme'],
      [own.id, 'acme'],
    ])
    expect(await roles.bindingsOf(other)).toEqual([
      { userId: other, roleId, tenantId: null, createdAt },
    ])
    expect(await roles.unbind({ userId, roleId })).toBe(true)
    expect(await roles.unbind({ userId, roleId })).toBe(false)
    expect(await roles.unbind({ userId, roleId: own.id })).toBe(true)
    expect(await held()).toEqual([
      [roleId, 'a:b'],
      [roleId, 'acme'],
    ])
    await roles.bind({ userId, roleId })
    expect(await roles.unbindAll(userId, { tenantId: 'acme' })).toBe(1)
    expect(await held()).toEqual([
      [roleId, null],
      [roleId, 'a:b'],
    ])
    expect(await roles.unbindAll(userId)).toBe(2)
    expect(await held()).toEqual([])
    expect(await roles.bindingsOf(other)).toHaveLength(1)
    await roles.delete(roleId)
    expect(await roles.bindingsOf(other)).toEqual([])
  })

  it('of one name and tenant there is one, however many define it at once', async () => {
    const host = await openHost({}, kind)
    const { roles } = host.auth.operator
    const definition = { name: 'support', permissions: read }
    const made = await Promise.all(Array.from({ length: 8 }, () => roles.define(definition)))
    expect(new Set(made.map(({ id }) => id)).size).toBe(1)
    expect(eventsOf(host, 'role.defined')).toHaveLength(1)
    const sets = ['a', 'b', 'c'].map((key) => ({ ...definition, permissions: [key] }))
    await Promise.all(sets.map((set) => roles.define(set)))
    expect(await roles.list()).toHaveLength(1)
    expect(eventsOf(host, 'role.defined')).toHaveLength(4)
    const [stored] = await storedIn(host, 'operator').roles.find({ tenantId: '' }, { limit: 2 })
    expect(stored?.revision).toBe(4)
  })
})

describe('a definition', () => {
  const good: RoleDefinition = { name: 'support', permissions: read }
  const bad: readonly (readonly [string, unknown])[] = [
    ['an empty name', { ...good, name: '' }],
    ['a name of 101 characters', { ...good, name: 'x'.repeat(101) }],
    ['a name with white space around it', { ...good, name: 'support ' }],
    ['a name no store can hold', { ...good, name: 'NUL \0' }],
    ['a name that is no text', { ...good, name: 7 }],
    ['no permissions', { name: 'support' }],
    ['permissions that are no array', { ...good, permissions: 'orders.read' }],
    ['a permission that is no text', { ...good, permissions: [7] }],
    ['an empty permission', { ...good, permissions: [''] }],
    ['a wildcard', { ...good, permissions: ['orders.*'] }],
    ['white space in a permission', { ...good, permissions: ['orders read'] }],
    ['201 permissions', { ...good, permissions: Array.from({ length: 201 }, (_, n) => `k${n}`) }],
    ['a tenant without a value', { ...good, tenantId: undefined }],
    ['an empty tenant', { ...good, tenantId: '' }],
    ['a tenant of 65 characters', { ...good, tenantId: 'x'.repeat(65) }],
    ['a tenant that is no text', { ...good, tenantId: 7 }],
    [
      'a system key in a tenant',
      {
        ...good,
        tenantId: 'acme',
        permissions: ['orders.read', 'auth.service_accounts.read'],
      },
    ],
    ['a misspelt member', { ...good, tenant: 'acme' }],
  ]

  it.each(bad)('with %s is refused, and nothing is stored', async (_what, definition) => {
    const { roles } = await rig()
    await expect(roles.define(definition as RoleDefinition)).rejects.toMatchObject({
      code: 'invalid_request',
    })
    for (const tenantId of [null, 'acme']) expect(await roles.list({ tenantId })).toEqual([])
  })

  it('says to the developer what is wrong', async () => {
    const { roles } = await rig()
    await expect(roles.define({ ...good, permissions: ['orders.*'] })).rejects.toThrow(
      /no wildcards: name each key/,
    )
    await expect(
      roles.define({ ...good, tenantId: 'acme', permissions: ['system.modules.read'] }),
    ).rejects.toThrow(/seedOrgRoles/)
  })

  it('may be as large as that', async () => {
    const { roles } = await rig()
    const permissions = Array.from({ length: 200 }, (_, n) => `${n}`.padStart(100, 'k'))
    const name = 'ё'.repeat(100)
    expect(await roles.define({ name, permissions })).toMatchObject({ name, permissions })
    expect(await roles.define({ name: 'x', permissions: [] })).toMatchObject({ permissions: [] })
  })
})

describe('a binding', () => {
  it('needs a user and a role that are there, and a tenant of the role’s', async () => {
    const { roles, userId, stored } = await rig()
    const { id: roleId } = await roles.define({ name: 'a', permissions: read, tenantId: 'acme' })
    const bad: readonly (readonly [unknown, string, string?])[] = [
      [{ userId: nobody, roleId }, 'user_not_found'],
      [{ userId: 'nobody', roleId }, 'user_not_found'],
      [{ userId, roleId: nobody }, 'not_found'],
      [{ userId, roleId: 'a' }, 'not_found'],
      [{ userId, roleId, tenantId: 'globex' }, 'invalid_request', 'bound in that tenant alone'],
      [{ userId, roleId, tenantId: undefined }, 'invalid_request', 'leave the member out'],
      [{ userId, roleId, tenantId: '' }, 'invalid_request', 'tenantId must be a text of 1 to 64'],
      [{ userId, roleId, tenantId: 7 }, 'invalid_request', 'tenantId must be a text of 1 to 64'],
      [{ userId, roleId, tenant: 'acme' }, 'invalid_request', '{ userId, roleId, tenantId }'],
      [{ userId: 7, roleId }, 'invalid_request', '{ userId, roleId, tenantId }'],
      [{ userId }, 'invalid_request', '{ userId, roleId, tenantId }'],
    ]
    for (const [assignment, code, said = ''] of bad) {
      const message = expect.stringContaining(said)
      const call = roles.bind(assignment as RoleAssignment)
      await expect(call).rejects.toMatchObject({ code, message })
    }
    expect(await stored.roleBindings.find({ userId }, { limit: 1 })).toEqual([])
    expect(await roles.bind({ userId, roleId, tenantId: 'acme' })).toBe(true)
    for (const [assignment, code] of bad) {
      const call = roles.unbind(assignment as RoleAssignment)
      if (code === 'invalid_request' && (assignment as RoleAssignment).tenantId !== 'globex') {
        await expect(call).rejects.toMatchObject({ code })
      } else expect(await call).toBe(false)
    }
    // It would have taken the roles of all tenants.
    for (const of of [{ tenantId: undefined }, { tenant: 'globex' }]) {
      const call = roles.unbindAll(userId, of as { tenantId?: string })
      await expect(call).rejects.toMatchObject({ code: 'invalid_request' })
    }
    await expect(
      roles.bind({ userId, roleId, ...Object({ tenantId: undefined }) }),
    ).rejects.toThrow(/tenantId is there and undefined/)
    expect(await roles.bindingsOf(userId)).toHaveLength(1)
    expect([await roles.unbindAll('nobody'), await roles.bindingsOf('nobody')]).toEqual([0, []])
  })

  it('gives no machine a role for people, also while nobody can tell', async () => {
    const { store, host, roles, userId, stored } = await rig()
    const { id } = await serviceAccount(host, await administrator(host))
    for (const name of ['administrator', 'Super_Admin']) {
      const { id: roleId } = await roles.define({ name, permissions: read })
      const refused = { code: 'role_not_assignable' }
      await expect(roles.bind({ userId: id, roleId })).rejects.toMatchObject(refused)
      for (const whom of [id, userId]) {
        store.failNext('operator_users.get', 'before')
        const unknown = { code: 'service_unavailable' }
        await expect(roles.bind({ userId: whom, roleId })).rejects.toMatchObject(unknown)
        expect(await stored.roleBindings.find({ roleId }, { limit: 1 })).toEqual([])
      }
      expect(await roles.bind({ userId, roleId })).toBe(true)
    }
    const { id: harmless } = await roles.define({ name: 'exporter', permissions: read })
    expect(await roles.bind({ userId: id, roleId: harmless })).toBe(true)
  })

  it('goes with its user, and is refused to who is being deleted', async () => {
    const { roles, users, userId, stored } = await rig()
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    await roles.bind({ userId, roleId, tenantId: 'acme' })
    await stored.users.update(userId, { deletingAt: null }, { deletingAt: 1 })
    const refused = { code: 'user_not_found' }
    await expect(roles.bind({ userId, roleId })).rejects.toMatchObject(refused)
    expect(await roles.bindingsOf(userId)).toHaveLength(1)
    expect(await users.delete(userId)).toBe(true)
    expect(await roles.bindingsOf(userId)).toEqual([])
    expect(await roles.list()).toHaveLength(1)
  })

  it.each(['user', 'role'] as const)(
    'is not left behind by one that comes while its %s is deleted',
    async (which) => {
      let interrupt = async (): Promise<void> => {}
      const meanwhile = (backend: Backend): Backend =>
        withCall(backend, async (name, work) => {
          const result = await work()
          if (name === 'operator_role_bindings.insert') await interrupt()
          return result
        })
      const host = await openHost({ wrapBackend: meanwhile })
      const { roles } = host.auth.operator
      const { id: userId } = await person(host, 'operator')
      const { id: roleId } = await roles.define({ name: 'support', permissions: read })
      const { users, roles: stored, roleBindings } = storedIn(host, 'operator')
      interrupt = async () => {
        await (which === 'user' ? users.take(userId) : stored.take(roleId))
      }
      const code = which === 'user' ? 'user_not_found' : 'not_found'
      await expect(roles.bind({ userId, roleId })).rejects.toMatchObject({ code })
      expect(await roleBindings.find({ userId }, { limit: 1 })).toEqual([])
    },
  )
})

describe('a failing store', () => {
  it('a bind that could not be taken back grants nothing, and the next one completes it', async () => {
    let store: 'up' | 'failing after the insert' | 'down' = 'up'
    const wrapBackend = (backend: Backend): Backend =>
      withCall(backend, async (name, work) => {
        if (store === 'down') throw new Error('the database went away')
        const result = await work()
        const isInsert = name === 'client_role_bindings.insert'
        if (store === 'failing after the insert' && isInsert) store = 'down'
        return result
      })
    const authorizer = roleAuthorizer()
    const host = await openHost({ wrapBackend, authorizer })
    const { roles } = host.auth.client
    const who = await signedInPerson(host, 'client')
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    const bind = () => roles.bind({ userId: who.id, roleId })
    const principal = await host.auth.client.authenticate(`Bearer ${who.bearer}`)
    const asked = () => host.auth.client.requirePermission(principal, 'orders.read')

    store = 'failing after the insert'
    await expect(bind()).rejects.toMatchObject({ code: 'service_unavailable' })
    store = 'up'
    await expect(asked()).rejects.toMatchObject({ code: 'permission_denied' })
    expect(await roles.bindingsOf(who.id)).toEqual([])
    expect(eventsOf(host, 'role.bound')).toEqual([])

    expect((await Promise.all([bind(), bind()])).sort()).toEqual([false, true])
    await expect(asked()).resolves.toBeUndefined()
    expect(await roles.bindingsOf(who.id)).toHaveLength(1)
    expect(eventsOf(host, 'role.bound')).toHaveLength(1)
    expect(await bind()).toBe(false)
  })

  it('a bind that fails takes away none that another call completed meanwhile', async () => {
    const { store, roles, userId, stored } = await rig()
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    store.onCall('operator_role_bindings.insert', () => {
      store.failNext('operator_users.get', 'before')
    })
    store.onCall('operator_role_bindings.take', async () => {
      expect(await roles.bind({ userId, roleId })).toBe(true)
    })
    const failed = { code: 'service_unavailable' }
    await expect(roles.bind({ userId, roleId })).rejects.toMatchObject(failed)
    const id = roleBindingId({ userId, roleId, tenantId: '' })
    expect(await stored.roleBindings.get(id)).toMatchObject({ pendingSince: null })
  })

  it('a bind that was interrupted is taken away as none, and with its role', async () => {
    const { host, roles, userId, stored } = await rig()
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    const id = roleBindingId({ userId, roleId, tenantId: '' })
    const plant = () =>
      stored.roleBindings.insert({
        ...{ id, userId, roleId, tenantId: '', createdAt: 0, pendingSince: 0, expiresAt: null },
      })
    await plant()
    expect(await roles.unbind({ userId, roleId })).toBe(false)
    expect(await stored.roleBindings.get(id)).toBeNull()
    await plant()
    expect(await roles.unbindAll(userId)).toBe(0)
    await plant()
    expect(await roles.delete(roleId)).toBe(true)
    expect(await stored.roleBindings.get(id)).toBeNull()
    expect(eventsOf(host, 'role.unbound')).toEqual([])
  })

  it('leaves a deleted role with nobody, and the next attempt tidies up', async () => {
    const { store, roles, userId, stored } = await rig()
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    for (const tenantId of ['a', 'b', 'c']) await roles.bind({ userId, roleId, tenantId })
    store.failNext('operator_role_bindings.take', 'before')
    await expect(roles.delete(roleId)).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await stored.roles.get(roleId)).toBeNull()
    expect(await roles.bindingsOf(userId)).toHaveLength(3)
    expect(await roles.delete(roleId)).toBe(false)
    expect(await roles.bindingsOf(userId)).toEqual([])
  })

  it('answers neither that it bound nor that it did not', async () => {
    const { store, roles, userId } = await rig()
    const { id: roleId } = await roles.define({ name: 'support', permissions: read })
    const unavailable = { code: 'service_unavailable' }
    for (const call of ['operator_roles.get', 'operator_role_bindings.insert']) {
      store.failNext(call, 'before')
      await expect(roles.bind({ userId, roleId })).rejects.toMatchObject(unavailable)
      expect(await roles.bindingsOf(userId)).toEqual([])
    }
    await roles.bind({ userId, roleId })
    store.failNext('operator_role_bindings.take', 'before')
    await expect(roles.unbind({ userId, roleId })).rejects.toMatchObject(unavailable)
    expect(await roles.bindingsOf(userId)).toHaveLength(1)
  })
})

it('a user of four hundred bindings loses none of them from sight, and all of them at once', async () => {
  const { roles, userId } = await rig()
  const { id: roleId } = await roles.define({ name: 'support', permissions: read })
  for (let n = 0; n < 401; n += 1) await roles.bind({ userId, roleId, tenantId: `t${n}` })
  expect(await roles.bindingsOf(userId)).toHaveLength(401)
  expect(await roles.unbindAll(userId)).toBe(401)
  for (let n = 0; n < 401; n += 1) await roles.bind({ userId, roleId, tenantId: `t${n}` })
  await roles.delete(roleId)
  expect(await roles.bindingsOf(userId)).toEqual([])
})
