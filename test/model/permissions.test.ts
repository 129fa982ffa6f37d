import { describe, expect, it } from 'vitest'
import {
  MODULE_CONFIG_PERMISSIONS,
  PERMISSIONS,
  seedOrgRoles,
  shortcutGrants,
} from '../../src/index.js'
import { operations } from '../../src/operations/index.js'

const selfKeys = ['auth.self', 'auth.mfa.self']
const systemKeys = [
  'system.users.mfa_reset',
  'system.users.password_reset',
  'system.users.email_verify_resend',
  'system.users.oauth_unlink',
  'auth.service_accounts.read',
  'auth.service_accounts.manage',
]
const moduleKeys = ['system.modules.read', 'system.modules.manage']
const allKeys = [...selfKeys, ...systemKeys]

describe('the catalogue of permissions', () => {
  it('has exactly the eight keys', () => {
    expect(PERMISSIONS.map(({ key }) => key)).toEqual(allKeys)
    for (const { grants } of PERMISSIONS) expect(grants).toMatch(/^[a-z].{10,}[^.]$/)
  })

  it('says which are of the system set, not by how they begin', () => {
    const systemOf = Object.fromEntries(PERMISSIONS.map(({ key, system }) => [key, system]))
    for (const key of selfKeys) expect([key, systemOf[key]]).toEqual([key, false])
    for (const key of systemKeys) expect([key, systemOf[key]]).toEqual([key, true])
  })

  it('keeps those of the module configuration apart', () => {
    expect(Object.values(MODULE_CONFIG_PERMISSIONS)).toEqual(moduleKeys)
  })

  it('names every permission that a route of the library asks for', () => {
    const asked = operations.flatMap(({ guards }) =>
      guards.flatMap((guard) => (guard.kind === 'permission' ? [guard.key] : [])),
    )
    expect(asked.length).toBeGreaterThan(20)
    expect(asked.filter((key) => ![...allKeys, ...moduleKeys].includes(key))).toEqual([])
  })
})

describe('the role shortcuts', () => {
  it.each(['super_admin', 'administrator', 'developer'])(
    '%s grants the system set and nothing else',
    (role) => {
      const granted = [...allKeys, ...moduleKeys, 'orders.refund', 'system', 'system.users', '']
        // A key of the host's that begins like ours is the host's.
        .concat('system.users.delete', 'auth.service_accounts', 'AUTH.SELF')
        .filter((key) => shortcutGrants(role, key))
      expect(granted).toEqual([...systemKeys, ...moduleKeys])
    },
  )

  it.each(['guest', 'auditor', '', 'Administrator', ' administrator', 'administrators', 'root'])(
    '%j grants nothing',
    (role) => {
      expect([...allKeys, ...moduleKeys].filter((key) => shortcutGrants(role, key))).toEqual([])
    },
  )
})

describe('seeding the roles of tenants', () => {
  it('leaves out the system set', () => {
    expect(seedOrgRoles(allKeys)).toEqual(selfKeys)
    expect(seedOrgRoles([...moduleKeys, ...systemKeys])).toEqual(selfKeys)
  })

  it('puts the two self keys into every role, and keeps keys of the host’s', () => {
    expect(seedOrgRoles([])).toEqual(selfKeys)
    const keys = ['orders.read', 'auth.service_accounts.read', 'orders.refund', 'orders.read']
    expect(seedOrgRoles(keys)).toEqual([...selfKeys, 'orders.read', 'orders.refund'])
    expect(keys).toHaveLength(4)
  })
})
