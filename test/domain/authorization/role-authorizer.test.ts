import { describe, expect, it } from 'vitest'
import {
  type HeldRole,
  MODULE_CONFIG_PERMISSIONS,
  PERMISSIONS,
  type PermissionQuestion,
  type RoleAuthorizerOptions,
  roleAuthorizer,
} from '../../../src/index.js'

const selfKeys = ['auth.self', 'auth.mfa.self']
const systemKeys = [
  ...PERMISSIONS.filter(({ system }) => system).map(({ key }) => key),
  ...Object.values(MODULE_CONFIG_PERMISSIONS),
]
const keys = [...selfKeys, ...systemKeys, 'orders.read', 'orders.refund']
const acme = [{ tenantId: 'acme' }]

const role = (permissions: readonly string[], tenantId: string | null = null): HeldRole => ({
  name: 'support',
  permissions,
  tenantId,
})

const somebody: PermissionQuestion = {
  surface: 'operator',
  userId: 'x',
  kind: '',
  systemRole: 'guest',
  memberships: [],
  tenantId: null,
  permission: '',
  sessionId: null,
  proofAge: async () => null,
}

/** The keys somebody is allowed, and what the store was asked for them. */
async function allowed(
  who: Partial<PermissionQuestion>,
  held: readonly HeldRole[] = [],
  options?: RoleAuthorizerOptions,
) {
  const asked: unknown[] = []
  const authorizer = roleAuthorizer(options)({
    async heldBy(holder) {
      asked.push(holder)
      return held
    },
  })
  const granted: string[] = []
  for (const permission of keys) {
    const answer = await authorizer.check({ ...somebody, ...who, permission })
    if (answer === true) granted.push(permission)
    else expect(answer).toBe(false)
  }
  return { granted, asked }
}

describe('who may do what without a binding', () => {
  it('every person their own account, and no machine', async () => {
    for (const surface of ['operator', 'client'] as const) {
      expect((await allowed({ surface })).granted).toEqual(selfKeys)
      expect((await allowed({ surface, kind: 'service' })).granted).toEqual([])
    }
  })

  it.each(['super_admin', 'administrator', 'developer'])(
    '%s the system set, on the operator surface',
    async (systemRole) => {
      const { granted, asked } = await allowed({ systemRole })
      expect(granted).toEqual([...selfKeys, ...systemKeys])
      expect(asked).toHaveLength(2)
      expect((await allowed({ systemRole, surface: 'client' })).granted).toEqual(selfKeys)
      expect((await allowed({ systemRole: ` ${systemRole}` })).granted).toEqual(selfKeys)
    },
  )

  it('a machine has no shortcut, whatever its role is called', async () => {
    for (const systemRole of ['super_admin', 'administrator', 'developer']) {
      expect((await allowed({ kind: 'service', systemRole })).granted).toEqual([])
    }
  })

  it('keys of the host’s join the system set when they are named', async () => {
    const options = { systemPermissions: ['orders.read'] }
    const { granted } = await allowed({ systemRole: 'developer' }, [], options)
    expect(granted).toEqual([...selfKeys, ...systemKeys, 'orders.read'])
    expect((await allowed({}, [], options)).granted).toEqual(selfKeys)
  })
})

describe('what a role adds', () => {
  it('its keys and no others, to people and machines', async () => {
    const held = [role(['orders.read', 'system.modules.read', 'order', 'orders.*'])]
    const granted = ['system.modules.read', 'orders.read']
    expect((await allowed({}, held)).granted).toEqual([...selfKeys, ...granted])
    expect((await allowed({ kind: 'service' }, held)).granted).toEqual(granted)
  })

  it('in a tenant, to its members alone', async () => {
    const at = { tenantId: 'acme', memberships: acme, kind: 'service' } as const
    const { asked } = await allowed(at)
    expect(new Set(asked.map((holder) => JSON.stringify(holder)))).toEqual(
      new Set([JSON.stringify({ surface: 'operator', userId: 'x', tenantId: 'acme' })]),
    )
    for (const memberships of [[], [{ tenantId: 'ACME' }], [{ tenantId: 'acme2' }]]) {
      const elsewhere = await allowed({ ...at, memberships })
      for (const holder of elsewhere.asked) expect(holder).toMatchObject({ tenantId: null })
    }
    // On a route that names none, no membership makes one of it.
    const nowhere = await allowed({ ...at, tenantId: null })
    for (const holder of nowhere.asked) expect(holder).toMatchObject({ tenantId: null })
  })

  it('of the system set, only where it is held everywhere', async () => {
    const at = { tenantId: 'acme', memberships: acme, kind: 'service' } as const
    const options = { systemPermissions: ['orders.refund'] }
    expect((await allowed(at, [role(keys, 'acme')])).granted).toEqual([
      ...selfKeys,
      'orders.read',
      'orders.refund',
    ])
    expect((await allowed(at, [role(keys, 'acme')], options)).granted).toEqual([
      ...selfKeys,
      'orders.read',
    ])
    expect((await allowed(at, [role(keys)], options)).granted).toEqual(keys)
  })

  it('nothing to a machine if the role is one for people', async () => {
    const held = [' Administrator', 'super_admin'].map((name) => ({ ...role(keys), name }))
    expect((await allowed({ kind: 'service' }, held)).granted).toEqual([])
    expect((await allowed({}, held)).granted).toEqual(keys)
  })

  it('nothing is decided while the store fails', async () => {
    const failing = roleAuthorizer()({ heldBy: () => Promise.reject(new Error('down')) })
    const ask = (permission: string) => failing.check({ ...somebody, permission })
    await expect(ask('orders.read')).rejects.toThrow('down')
    expect(await ask('auth.self')).toBe(true)
  })
})
