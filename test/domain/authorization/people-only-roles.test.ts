import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { UserChanges } from '../../../src/index.js'
import { surfaceCollections } from '../../../src/model/collections.js'
import { isHuman, usersSpec } from '../../../src/model/user.js'
import type { CollectionSpec } from '../../../src/ports/store.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { person } from '../../support/people/people.js'
import {
  administrator,
  peopleMay,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { specOf } from '../../support/stores/spec-of.js'

const peopleOnly = [
  ...['super_admin', 'administrator', 'SUPER_ADMIN', 'Administrator', ' super_admin '],
  ...['administrator\n', '\tSuper_Admin', '\u00a0administrator'],
]

async function rig() {
  const store = faultyBackend(memory())
  const host = await openHost({ backend: store.backend, authorizer: peopleMay })
  const { id } = await serviceAccount(host, await administrator(host))
  const { users } = host.auth.operator
  return { store, host, id, users, stored: () => storedIn(host, 'operator').users.get(id) }
}

const refused = { code: 'role_not_assignable', status: 403 }

describe('roles that are for people', () => {
  it('are given to no service account, in no spelling', async () => {
    for (const role of peopleOnly) {
      const { id, users, stored } = await rig()
      const before = await stored()
      for (const roles of [role, [role], ['developer', role], [role, 'developer']]) {
        await expect(users.assertRoleAssignable(id, roles)).rejects.toMatchObject(refused)
      }
      // A name with blanks around it is no role's at all.
      const failure = role === role.trim() ? refused : { code: 'invalid_request' }
      await expect(users.update(id, { systemRole: role })).rejects.toMatchObject(failure)
      const more = { name: 'x', systemRole: role, enabled: false }
      await expect(users.update(id, more)).rejects.toMatchObject(failure)
      expect(await stored()).toEqual(before)
    }
  })

  it('other roles are anybody’s, and nothing is read for them', async () => {
    const { store, id, users } = await rig()
    const roles = ['developer', 'administrators', 'super admin', 'tenant:administrator', '']
    const from = store.calls.length
    await users.assertRoleAssignable(id, roles)
    await users.assertRoleAssignable('nobody', 'developer')
    await users.assertRoleAssignable(id, [])
    expect(store.calls.slice(from)).toEqual([])
    for (const systemRole of roles.filter(Boolean)) {
      expect(await users.update(id, { systemRole })).toMatchObject({ systemRole })
    }
  })

  it('are people’s', async () => {
    const { host, users } = await rig()
    const { id } = await person(host, 'operator')
    for (const role of peopleOnly) {
      await users.assertRoleAssignable(id, [role, 'developer'])
      if (role !== role.trim()) continue
      expect(await users.update(id, { systemRole: role })).toMatchObject({ systemRole: role })
    }
    const root = { email: 'root@example.org', systemRole: 'super_admin' }
    expect(await users.create(root)).toMatchObject({ kind: '', systemRole: 'super_admin' })
  })

  it('are given to nobody while it cannot be read who that is, or is not there', async () => {
    for (const fault of ['before', 'after'] as const) {
      const { store, host, id, users, stored } = await rig()
      const human = await person(host, 'operator')
      const before = await stored()
      for (const whom of [id, human.id]) {
        for (const act of [
          () => users.assertRoleAssignable(whom, 'administrator'),
          () => users.update(whom, { systemRole: 'administrator' }),
        ]) {
          store.failNext('operator_users.get', fault)
          await expect(act()).rejects.toMatchObject({ code: 'service_unavailable' })
        }
      }
      expect(await stored()).toEqual(before)
      expect(await users.get(human.id)).toMatchObject({ systemRole: 'guest' })
      await expect(users.assertRoleAssignable('nobody', 'administrator')).rejects.toMatchObject(
        refused,
      )
      // The faults were the reason: the same person is given it now, and the machine is not.
      expect(await users.update(human.id, { systemRole: 'administrator' })).not.toBeNull()
      await expect(users.assertRoleAssignable(id, 'administrator')).rejects.toMatchObject(refused)
    }
  })

  it('are not given to what is neither kind', async () => {
    const { host, id, users } = await rig()
    await storedIn(host, 'operator').users.update(id, { kind: 'service' }, { kind: 'robot' })
    await expect(users.assertRoleAssignable(id, 'administrator')).rejects.toMatchObject(refused)
  })

  it('what is no role is refused, whatever a cast let through', async () => {
    const { id, users } = await rig()
    for (const given of [null, undefined, 7, {}, [7], [['administrator']], 'NUL \0']) {
      const call = users.assertRoleAssignable(id, given as string)
      await expect(call).rejects.toMatchObject(refused)
    }
    const nested = { systemRole: ['administrator'] } as unknown as UserChanges
    await expect(users.update(id, nested)).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('kind', () => {
  it('is no member of what a user can be updated with', async () => {
    const { id, users, stored } = await rig()
    // @ts-expect-error `kind` is set at creation and never again.
    const changes: UserChanges = { kind: '' }
    await expect(users.update(id, changes)).rejects.toMatchObject({ code: 'invalid_request' })
    expect((await stored())?.kind).toBe('service')
  })

  it('of a record from before it existed is a person', async () => {
    expect([{}, { kind: null }, { kind: '' }].map(isHuman)).toEqual([true, true, true])
    expect(['service', 'human', 'robot'].map((kind) => isHuman({ kind }))).toEqual([
      false,
      false,
      false,
    ])
    const { host } = await rig()
    const { id, email, password } = await person(host, 'operator')
    const user = await storedIn(host, 'operator').users.get(id)
    if (user === null) throw new Error('nobody was stored')

    const { kind: _, ...older } = user
    const { kind: __, ...fields } = usersSpec.fields
    const backend = memory()
    const spec = {
      ...specOf(surfaceCollections.users, 'operator'),
      fields,
      indexes: [{ on: ['email'], unique: true }],
    }
    const before = spec as unknown as CollectionSpec<typeof older>
    await backend.store.prepare([before])
    await backend.store.collection(before).insert(older)
    const upgraded = await openHost({ backend })
    expect(await upgraded.auth.operator.users.get(id)).toMatchObject({ kind: '' })
    const body = { email, password }
    expect(outcomeOf(await upgraded.send('POST', '/v1/auth/operator/login', { body }))).toBe('200')
  })
})
