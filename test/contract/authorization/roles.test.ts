import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { type AuthError, type PermissionQuestion, roleAuthorizer } from '../../../src/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { eventsOf, openHost } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type SignedIn, signedInPerson } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  issuedIn,
  type MadeAccount,
  prove,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const byRoles = { ...withoutLimits, authorizer: roleAuthorizer() } satisfies HostOptions

/** Somebody whose session has just shown a second factor, in this role. */
async function operator(host: ContractHost, systemRole: string) {
  const who = await administrator(host)
  await host.auth.operator.users.update(who.id, { systemRole })
  return who
}

/** Every route by which credentials are administered, sent in an order in which all succeed. */
async function administer(
  host: ContractHost,
  { bearer }: Pick<SignedIn, 'bearer'>,
  of?: MadeAccount,
) {
  const made = await host.send('POST', accountsPath, { bearer, body: { name: 'Export' } })
  const id = of?.id ?? String(made.json()['id'])
  const one = `${accountsPath}/${id}`
  const issued = await host.send('POST', `${one}/credentials`, { bearer })
  const credentialId = of?.credentialId ?? issuedIn(issued).credentialId
  return {
    made,
    issued,
    listed: await host.send('GET', accountsPath, { bearer }),
    shown: await host.send('GET', one, { bearer }),
    renamed: await host.send('PATCH', one, { bearer, body: { name: 'Import' } }),
    revoked: await host.send('DELETE', `${one}/credentials/${credentialId}`, { bearer }),
  }
}

eachHost.describe('roleAuthorizer', (kind) => {
  it.each(['super_admin', 'administrator', 'developer'])(
    'a new %s without any binding administers credentials',
    async (systemRole) => {
      const host = await openHost(byRoles, kind)
      const who = await operator(host, systemRole)
      expect(await host.auth.operator.roles.bindingsOf(who.id)).toEqual([])
      const replies = Object.entries(await administer(host, who))
      expect(Object.fromEntries(replies.map(([what, { status }]) => [what, status]))).toEqual({
        made: 201,
        issued: 201,
        listed: 200,
        shown: 200,
        renamed: 200,
        revoked: 204,
      })
    },
  )

  it('who lacks the key gets 403 on each of them, and keeps their own account', async () => {
    const host = await openHost(byRoles, kind)
    const account = await serviceAccount(host, await operator(host, 'administrator'))
    const guest = await operator(host, 'guest')
    for (const reply of Object.values(await administer(host, guest, account))) {
      expectProblem(reply, 403, 'permission_denied')
    }
    await tokenOf(host, account)
    const own = await host.send('GET', '/v1/auth/operator/me', { bearer: guest.bearer })
    expect(own.status).toBe(200)
  })

  it('a role bound everywhere lets in, and not on the request after it is taken away', async () => {
    const host = await openHost(byRoles, kind)
    const { roles } = host.auth.operator
    const { bearer, id: userId } = await operator(host, 'guest')
    const list = () => host.send('GET', accountsPath, { bearer })
    const auditor = await roles.define({
      name: 'auditor',
      permissions: ['auth.service_accounts.read'],
    })
    const bound = { userId, roleId: auditor.id }
    const statuses: number[] = []
    const note = async () => statuses.push((await list()).status)
    await note()
    await roles.bind(bound)
    await note()
    await roles.unbind(bound)
    await note()
    await roles.bind(bound)
    await note()
    await roles.define({ name: 'auditor', permissions: ['auth.service_accounts.manage'] })
    await note()
    await roles.define({ name: 'auditor', permissions: ['auth.service_accounts.read'] })
    await note()
    await roles.delete(auditor.id)
    await note()
    await roles.define({ name: 'auditor', permissions: ['auth.service_accounts.read'] })
    await note()
    expect(statuses).toEqual([403, 200, 403, 200, 403, 200, 403, 403])
  })

  it('a machine may do what is bound to it, and not what its role is called', async () => {
    const host = await openHost(byRoles, kind)
    const { roles, users } = host.auth.operator
    const admin = await operator(host, 'administrator')
    const account = await serviceAccount(host, admin)
    const bearer = await tokenOf(host, account)
    const modules = () => host.send('GET', '/v1/admin/modules', { bearer })
    expectProblem(await modules(), 403, 'permission_denied')
    await users.update(account.id, { systemRole: 'developer' })
    expectProblem(await modules(), 403, 'permission_denied')
    const reader = await roles.define({ name: 'reader', permissions: ['system.modules.read'] })
    await roles.bind({ userId: account.id, roleId: reader.id })
    expect((await modules()).status).toBe(200)
    await prove(host, admin)
    const off = { bearer: admin.bearer, body: { enabled: false } }
    await host.send('PATCH', `${accountsPath}/${account.id}`, off)
    expectProblem(await modules(), 403, 'permission_denied')
  })

  it('what a machine may do by a role ends with the binding, at the next request with the same token', async () => {
    const host = await openHost(byRoles, kind)
    const { roles } = host.auth.operator
    const account = await serviceAccount(host, await operator(host, 'administrator'))
    const bearer = await tokenOf(host, account)
    const modules = () => host.send('GET', '/v1/admin/modules', { bearer })
    const reader = await roles.define({ name: 'reader', permissions: ['system.modules.read'] })
    const bound = { userId: account.id, roleId: reader.id }
    for (let round = 0; round < 3; round += 1) {
      expectProblem(await modules(), 403, 'permission_denied')
      await roles.bind(bound)
      expect((await modules()).status).toBe(200)
      await roles.unbind(bound)
    }
    expectProblem(await modules(), 403, 'permission_denied')
  })
})

describe('roleAuthorizer', () => {
  it.each(['operator_role_bindings.find', 'operator_roles.get'])(
    'is 503 while %s fails, and never a refusal or a way in',
    async (call) => {
      const store = faultyBackend(memory())
      const host = await openHost({ ...byRoles, backend: store.backend })
      const { roles } = host.auth.operator
      const { bearer, id: userId } = await operator(host, 'guest')
      const { id: roleId } = await roles.define({
        name: 'auditor',
        permissions: ['auth.service_accounts.read'],
      })
      await roles.bind({ userId, roleId })
      store.failNext(call, 'before', Number.POSITIVE_INFINITY)
      const list = () => host.send('GET', accountsPath, { bearer })
      expectProblem(await list(), 503, 'authorization_unavailable')
      const own = await host.send('GET', '/v1/auth/operator/me', { bearer })
      expect(own.status).toBe(200)
      store.heal()
      expect((await list()).status).toBe(200)
    },
  )

  it.each(['before', 'after'] as const)(
    'says of a binding what is true where the store fails %s the last write',
    async (fault) => {
      const store = faultyBackend(memory())
      const host = await openHost({ ...byRoles, backend: store.backend })
      const { roles } = host.auth.operator
      const { id: userId } = await operator(host, 'guest')
      const { id: roleId } = await roles.define({ name: 'auditor', permissions: ['orders.read'] })
      store.failNext('operator_role_bindings.update', fault)
      const bound = await roles.bind({ userId, roleId }).catch(({ code }: AuthError) => code)
      expect(bound).toBe(fault === 'after' ? true : 'service_unavailable')
      expect(await roles.bindingsOf(userId)).toHaveLength(fault === 'after' ? 1 : 0)
      const told = (type: 'role.bound' | 'role.bindFailed') => eventsOf(host, type).length
      expect([told('role.bound'), told('role.bindFailed')]).toEqual(
        fault === 'after' ? [1, 0] : [0, 1],
      )
      expect(await roles.bind({ userId, roleId })).toBe(fault === 'before')
      expect(await roles.bindingsOf(userId)).toHaveLength(1)
    },
  )

  it('costs nothing for the self keys and the shortcuts, one read without roles, two with them', async () => {
    const store = faultyBackend(memory())
    const host = await openHost({ ...byRoles, backend: store.backend })
    const { roles } = host.auth.operator
    const admin = await operator(host, 'administrator')
    const guest = await operator(host, 'guest')
    const callsOf = async (path: string, { bearer }: Pick<SignedIn, 'bearer'>) => {
      await host.auth.close()
      const from = store.calls.length
      await host.send('GET', path, { bearer })
      return store.calls.slice(from).filter((call) => call.includes('role'))
    }
    expect(await callsOf('/v1/auth/operator/me', guest)).toEqual([])
    expect(await callsOf(accountsPath, admin)).toEqual([])
    expect(await callsOf(accountsPath, guest)).toEqual(['operator_role_bindings.find'])
    for (const name of ['one', 'two']) {
      const { id: roleId } = await roles.define({ name, permissions: ['orders.read'] })
      await roles.bind({ userId: guest.id, roleId })
    }
    expect(await callsOf(accountsPath, guest)).toEqual([
      'operator_role_bindings.find',
      ...['operator_roles.get', 'operator_roles.get'],
    ])
  })

  it('grants the module configuration under the names the host gave it', async () => {
    const permissions = { modulesRead: 'config.read' }
    const authorizer = roleAuthorizer({ systemPermissions: ['config.read'] })
    for (const [status, options] of [
      [403, { permissions }],
      [200, { permissions, authorizer }],
    ] as const) {
      const host = await openHost({ ...byRoles, ...options })
      const { bearer } = await operator(host, 'administrator')
      expect((await host.send('GET', '/v1/admin/modules', { bearer })).status).toBe(status)
    }
  })

  it('can stand behind a rule of the host’s own, and knows the surfaces apart', async () => {
    const asked: PermissionQuestion[] = []
    const host = await openHost({
      ...byRoles,
      authorizer: (roles) => {
        const stored = roleAuthorizer()(roles)
        return {
          async check(question) {
            asked.push(question)
            return question.permission === 'auth.self' ? false : stored.check(question)
          },
        }
      },
    })
    const { bearer, id: userId } = await signedInPerson(host, 'client')
    const me = await host.send('GET', '/v1/auth/client/me', { bearer })
    expectProblem(me, 403, 'permission_denied')
    expect(asked).toHaveLength(1)
    const { client, operator: other } = host.auth
    const { id: roleId } = await client.roles.define({ name: 'buyer', permissions: ['orders.buy'] })
    await client.roles.bind({ userId, roleId })
    const principal = await client.authenticate(`Bearer ${bearer}`)
    await client.requirePermission(principal, 'orders.buy')
    await expect(client.requirePermission(principal, 'orders.sell')).rejects.toMatchObject({
      code: 'permission_denied',
    })
    expect(await other.roles.list()).toEqual([])
    expect(await other.roles.bindingsOf(userId)).toEqual([])
  })
})
