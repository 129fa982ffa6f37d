import { describe, expect, it, onTestFinished } from 'vitest'
import { expressGuards } from '../../../adapters/express.js'
import { type PermissionQuestion, roleAuthorizer } from '../../../src/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type HostOptions, memoryHost } from '../../support/hosts/hosts.js'
import { httpClient } from '../../support/hosts/http-client.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { signedInPerson } from '../../support/people/people.js'
import { tenantHosts } from './tenant-hosts.js'

async function open(serve: (typeof tenantHosts)['express'], options: HostOptions = {}) {
  const host = await openHost({ ...withoutLimits, authorizer: roleAuthorizer(), ...options })
  const own = await serve(host.auth)
  onTestFinished(() => own.close())
  const send = httpClient(own.url)
  const who = await signedInPerson(host, 'client')
  const ask = (tenant: string) => send('GET', `/tenants/${tenant}/refunds`, { bearer: who.bearer })
  return { host, who, ask, send }
}

describe.each(Object.entries(tenantHosts))('tenants on %s', (_name, serve) => {
  it('a role of one tenant lets in there, and while its holder is a member', async () => {
    const { host, who, ask, send } = await open(serve)
    const { roles, users } = host.auth.client
    const { id: userId } = who
    const statuses: string[] = []
    const note = async () => {
      const [here, there] = [await ask('acme'), await ask('globex')]
      statuses.push(`${here.status} ${there.status}`)
    }
    const permissions = ['orders.refund']
    const { id: roleId } = await roles.define({ name: 'support', permissions, tenantId: 'acme' })
    await note()
    await roles.bind({ userId, roleId })
    await note()
    await users.update(userId, { memberships: [{ tenantId: 'acme' }, { tenantId: 'globex' }] })
    await note()
    expect((await ask('acme')).json()).toEqual({ tenantId: 'acme', userId })
    await users.update(userId, { memberships: [{ tenantId: 'globex' }] })
    await note()
    const { id: everywhere } = await roles.define({ name: 'support', permissions })
    await roles.bind({ userId, roleId: everywhere, tenantId: 'globex' })
    await note()
    await roles.bind({ userId, roleId: everywhere })
    await note()
    await roles.unbindAll(userId)
    await note()
    expect(statuses).toEqual([
      ...['403 403', '403 403', '200 403'],
      ...['403 403', '403 200', '200 200', '403 403'],
    ])
    expectProblem(await send('GET', '/tenants/acme/refunds'), 401)
  })

  it('the authorizer is told the tenant; a route that names none of 64 characters asks nobody', async () => {
    const asked: PermissionQuestion[] = []
    const { ask, who } = await open(serve, {
      authorizer: {
        async check(question) {
          asked.push(question)
          return true
        },
      },
    })
    const odd = ['a b', 'ё', `${'x'.repeat(64)}`]
    for (const tenant of odd) {
      const reply = await ask(encodeURIComponent(tenant))
      expect(reply.json()).toEqual({ tenantId: tenant, userId: who.id })
    }
    expect(asked.map(({ tenantId }) => tenantId)).toEqual(odd)
    expectProblem(await ask('x'.repeat(65)), 403, 'permission_denied')
    expectProblem(await ask('%00'), 403, 'permission_denied')
    expect(asked).toHaveLength(odd.length)
  })
})

it('a binding that somebody else wrote takes the role of a tenant to no other', async () => {
  const host = await openHost({ authorizer: roleAuthorizer() })
  const { client } = host.auth
  const { id: userId, bearer } = await signedInPerson(host, 'client')
  const memberships = [{ tenantId: 'acme' }, { tenantId: 'globex' }]
  await client.users.update(userId, { memberships })
  const permissions = ['orders.refund']
  const { id: roleId } = await client.roles.define({ name: 'a', permissions, tenantId: 'acme' })
  for (const tenantId of ['globex', '']) {
    const id = `${userId}:${roleId}:${tenantId}`
    const times = { createdAt: 0, pendingSince: null, expiresAt: null }
    const binding = { id, userId, roleId, tenantId, ...times }
    await storedIn(host, 'client').roleBindings.insert(binding)
  }
  const principal = await client.authenticate(`Bearer ${bearer}`)
  for (const of of [undefined, { tenantId: 'globex' }, { tenantId: 'acme' }]) {
    const call = client.requirePermission(principal, 'orders.refund', of)
    await expect(call).rejects.toMatchObject({ code: 'permission_denied' })
  }
  await client.roles.bind({ userId, roleId })
  await client.requirePermission(principal, 'orders.refund', { tenantId: 'acme' })
})

it('an account is read after its tenant is known, however long the caller holds that up', async () => {
  const host = await openHost({
    authorizer: {
      async check({ memberships, tenantId }) {
        return memberships.some((one) => one.tenantId === tenantId)
      },
    },
  })
  const { client } = host.auth
  const { id, bearer } = await signedInPerson(host, 'client')
  const header = (name: string) => (name === 'authorization' ? `Bearer ${bearer}` : undefined)
  const request = { header, remoteAddress: undefined }
  let meanwhile = async (): Promise<unknown> => undefined
  // Where the tenant is named in the body, the caller decides when it arrives.
  const guard = client.guards.requirePermission('orders.refund', {
    tenant: async () => {
      await meanwhile()
      return 'acme'
    },
  })
  // The first request of a guard, and those that follow.
  for (let time = 0; time < 2; time += 1) {
    await client.users.update(id, { memberships: [{ tenantId: 'acme' }] })
    meanwhile = () => client.users.update(id, { memberships: [] })
    expect((await guard(request, null)).refusal?.status).toBe(403)
    meanwhile = () => client.users.update(id, { memberships: [{ tenantId: 'acme' }] })
    expect((await guard(request, null)).refusal).toBeNull()
  }
})

it.each([
  ['a sign-out', expect.stringContaining('session_revoked')],
  ['the end of the token', expect.not.stringContaining('session_revoked')],
] as const)('%s while the tenant is awaited is not too late', async (what, refused) => {
  const host = await openHost({ authorizer: { check: async () => true } })
  const { client } = host.auth
  const { cookie, bearer } = await signedInPerson(host, 'client')
  const header = (name: string) => (name === 'authorization' ? `Bearer ${bearer}` : undefined)
  const request = { header, remoteAddress: undefined }
  const signOut = async () => {
    await host.send('POST', '/v1/auth/client/logout', { cookie })
    await host.clock.advance(1001)
  }
  const meanwhile = what === 'a sign-out' ? signOut : () => host.clock.advance(15 * 60_000)
  const tenant = async () => {
    await meanwhile()
    return 'acme'
  }
  const guard = client.guards.requirePermission('orders.refund', { tenant })
  const { refusal } = await guard(request, await client.authenticate(`Bearer ${bearer}`))
  expect([refusal?.status, refusal?.body]).toEqual([401, refused])
})

describe('a tenant that cannot be named', () => {
  const request = { header: () => undefined, remoteAddress: undefined }

  it.each([undefined, null, '', 7, ['acme'], {}])(
    '%j is refused, never taken for none',
    async (given) => {
      const asked: PermissionQuestion[] = []
      const host = await openHost({
        authorizer: {
          async check(question) {
            asked.push(question)
            return true
          },
        },
      })
      const { bearer } = await signedInPerson(host, 'client')
      const { client } = host.auth
      const principal = await client.authenticate(`Bearer ${bearer}`)
      const guard = client.guards.requirePermission('orders.refund', { tenant: () => given })
      const { refusal } = await guard(request, principal)
      expect(refusal?.status).toBe(403)
      const call = client.requirePermission(principal, 'orders.refund', {
        tenantId: given as string,
      })
      await expect(call).rejects.toMatchObject({ code: 'permission_denied' })
      expect(asked).toEqual([])
      await client.requirePermission(principal, 'orders.refund', { tenantId: 'acme' })
      await client.requirePermission(principal, 'orders.refund')
      expect(asked.map(({ tenantId }) => tenantId)).toEqual(['acme', null])
    },
  )

  it('a function of the host’s that fails lets nobody in', async () => {
    const host = await openHost({ authorizer: { check: async () => true } })
    const { bearer } = await signedInPerson(host, 'client')
    const principal = await host.auth.client.authenticate(`Bearer ${bearer}`)
    for (const tenant of [
      () => Promise.reject(new Error('no params')),
      () => {
        throw new TypeError('no params')
      },
    ]) {
      const guard = host.auth.client.guards.requirePermission('orders.refund', { tenant })
      const { refusal } = await guard(request, principal)
      expect([refusal?.status, refusal?.body]).toEqual([500, expect.not.stringMatching(/params/)])
    }
  })

  it('is told of where the guard is made', async () => {
    const { auth } = await memoryHost.start()
    const { requirePermission } = expressGuards(auth.client)
    // @ts-expect-error It has to be a function of the request.
    expect(() => requirePermission('orders.refund', { tenant: 'acme' })).toThrow(TypeError)
    // @ts-expect-error Misspelt.
    expect(() => requirePermission('orders.refund', { tenantId: () => 'acme' })).toThrow(TypeError)
    await auth.close()
  })
})
