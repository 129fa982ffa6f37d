import { describe, expect, it } from 'vitest'
import type { BindingsReply, RolesReply } from '../../../examples/console/host/replies.js'
import type { Role } from '../../../src/index.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { person, signedInPerson } from '../../support/people/people.js'
import { caller, operatorOf, operatorRoutesHost, operatorWith } from './operator-routes-host.js'

async function opened() {
  const host = await operatorRoutesHost()
  const admin = await operatorOf(host, 'super_admin')
  return { host, admin, send: caller(host, admin) }
}

describe('role routes of the console', () => {
  it('define, list, change and delete roles, of a tenant and of none', async () => {
    const { host, send } = await opened()
    const support = { name: 'support', permissions: ['orders.read'] }
    const made = await send('PUT', '/roles/client', support)
    expect(made.status, made.text).toBe(200)
    const { role } = made.json() as { role: Role }
    expect(role).toMatchObject({ ...support, tenantId: null })
    const again = await send('PUT', '/roles/client', { ...support, permissions: [] })
    expect(again.json()['role']).toMatchObject({ id: role.id, permissions: [] })
    await send('PUT', '/roles/client', { ...support, tenantId: 'acme' })
    const list = async (query = '') =>
      (await send('GET', `/roles/client${query}`)).json() as unknown as RolesReply
    expect((await list()).roles.map(({ tenantId }) => tenantId)).toEqual([null])
    expect((await list('?tenantId=acme')).roles).toMatchObject([{ ...support, tenantId: 'acme' }])
    expect((await list()).permissions).toEqual([])
    expect(outcomeOf(await send('DELETE', `/roles/client/${role.id}`))).toBe('204')
    expect(outcomeOf(await send('DELETE', `/roles/client/${role.id}`))).toBe('404 not_found')
    expect(await host.auth.client.roles.list()).toEqual([])
    const operators = (await send('GET', '/roles/operator')).json() as unknown as RolesReply
    const keys = operators.permissions.map(({ key }) => key)
    expect(keys).toEqual(
      expect.arrayContaining([
        'auth.service_accounts.read',
        'system.modules.manage',
        'console.audit.read',
      ]),
    )
  })

  it('give a role to a user and take it away, which counts at the next request', async () => {
    const { host, send } = await opened()
    const ada = await signedInPerson(host, 'operator')
    const as = caller(host, ada)
    const permissions = ['console.users.read']
    const { role } = (
      await send('PUT', '/roles/operator', { name: 'reader', permissions })
    ).json() as {
      role: Role
    }
    const path = `/bindings/operator/${ada.id}`
    expect(outcomeOf(await as('GET', '/users/client'))).toBe('403 permission_denied')
    expect(outcomeOf(await send('PUT', `${path}/${role.id}`, {}))).toBe('204')
    expect(outcomeOf(await as('GET', '/users/client'))).toBe('200')
    const { bindings } = (await send('GET', path)).json() as unknown as BindingsReply
    expect(bindings).toMatchObject([{ roleId: role.id, role: 'reader', tenantId: null }])
    expect(outcomeOf(await send('DELETE', `${path}/${role.id}`))).toBe('204')
    expect(outcomeOf(await as('GET', '/users/client'))).toBe('403 permission_denied')
    expect(outcomeOf(await send('DELETE', `${path}/${role.id}`))).toBe('404 not_found')
  })

  it('give roles within a tenant, and to service accounts', async () => {
    const { host, send } = await opened()
    const { id } = await person(host, 'client')
    const role = await host.auth.client.roles.define({
      name: 'clerk',
      permissions: ['orders.read'],
    })
    const path = `/bindings/client/${id}`
    expect(outcomeOf(await send('PUT', `${path}/${role.id}`, { tenantId: 'acme' }))).toBe('204')
    const held = (await send('GET', path)).json() as unknown as BindingsReply
    expect(held.bindings).toMatchObject([{ role: 'clerk', tenantId: 'acme' }])
    expect(outcomeOf(await send('DELETE', `${path}/${role.id}`))).toBe('404 not_found')
    expect(outcomeOf(await send('DELETE', `${path}/${role.id}?tenantId=acme`))).toBe('204')
    const { account } = await host.auth.operator.serviceAccounts.create({ name: 'Export' })
    const reader = await host.auth.operator.roles.define({ name: 'reader', permissions: [] })
    const bound = await send('PUT', `/bindings/operator/${account.id}/${reader.id}`, {})
    expect(outcomeOf(bound)).toBe('204')
    const unknown = `/bindings/client/0191f3a0-0000-7000-8000-000000000000/${role.id}`
    expect(outcomeOf(await send('PUT', unknown, {}))).toBe('404 user_not_found')
  })

  it('let no operator give, by a role, what the operator does not hold', async () => {
    const { host } = await opened()
    const limited = await operatorWith(host, 'console.roles.manage')
    const send = caller(host, limited)
    const wide = { name: 'wide', permissions: ['console.users.manage'] }
    expect(outcomeOf(await send('PUT', '/roles/operator', wide))).toBe('403 permission_denied')
    expect(await host.auth.operator.roles.list()).toHaveLength(1)
    const made = await host.auth.operator.roles.define(wide)
    const own = `/bindings/operator/${limited.id}/${made.id}`
    expect(outcomeOf(await send('PUT', own, {}))).toBe('403 permission_denied')
    expect(await host.auth.operator.roles.bindingsOf(limited.id)).toHaveLength(1)
    const fair = { name: 'fair', permissions: ['console.roles.manage', 'orders.read'] }
    expect(outcomeOf(await send('PUT', '/roles/operator', fair))).toBe('200')
    // The client surface has no routes of operators: its roles may name what they like.
    expect(outcomeOf(await send('PUT', '/roles/client', wide))).toBe('200')
  })

  it('let no operator take, by a role, what the operator does not hold', async () => {
    const { host } = await opened()
    const limited = await operatorWith(host, 'console.roles.manage', 'console.users.manage')
    const send = caller(host, limited)
    const auditor = await operatorWith(host, 'console.audit.read')
    const { roles } = host.auth.operator
    const [held] = await roles.bindingsOf(auditor.id)
    const role = (await roles.list()).find(({ id }) => id === held?.roleId)
    const less = { name: role?.name ?? '', permissions: [] }
    for (const reply of [
      await send('PUT', '/roles/operator', less),
      await send('DELETE', `/bindings/operator/${auditor.id}/${role?.id}`),
      await send('DELETE', `/roles/operator/${role?.id}`),
      await send('POST', `/users/operator/${auditor.id}/mfa-reset`),
    ]) {
      expect(outcomeOf(reply)).toBe('403 permission_denied')
    }
    expect(await roles.list()).toContainEqual(role)
    expect(await roles.bindingsOf(auditor.id)).toEqual([held])
    const lesser = await operatorWith(host, 'console.users.manage')
    const [own] = await roles.bindingsOf(lesser.id)
    const taken = await send('DELETE', `/bindings/operator/${lesser.id}/${own?.roleId}`)
    expect(outcomeOf(taken)).toBe('204')
  })
})
