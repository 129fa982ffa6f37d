import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest'
import { expressRouter } from '../adapters/express.js'
import { fetchHandler } from '../adapters/fetch.js'
import { memory } from '../adapters/memory/index.js'
import { postgres } from '../adapters/postgres/index.js'
import { AuthError } from '../src/errors/index.js'
import { PERMISSIONS, type Principal, seedOrgRoles, shortcutGrants } from '../src/index.js'
import { type ContractHost, memoryHost } from './support/hosts/hosts.js'
import { testAuth } from './support/hosts/test-auth.js'
import { signedInPerson } from './support/people/people.js'
import { faultyBackend } from './support/stores/faulty-backend.js'

describe('what a host’s own code is given', () => {
  let host: ContractHost
  const faulty = faultyBackend(memory())
  beforeEach(async () => {
    host = await memoryHost.start({ backend: faulty.backend })
  })
  afterEach(() => host.close())

  const refusal = async (header: string | undefined): Promise<string> => {
    try {
      await host.auth.client.authenticate(header)
    } catch (error) {
      return error instanceof AuthError ? `${error.status} ${error.code}` : 'another error'
    }
    return 'authenticated'
  }

  it('authenticate obeys signature, audience, expiry and the denylist', async () => {
    const who = await signedInPerson(host, 'client')
    const operator = await signedInPerson(host, 'operator')
    const principal = await host.auth.client.authenticate(`Bearer ${who.bearer}`)
    expect(principal).toMatchObject({ surface: 'client', userId: who.id, kind: '' })
    expect(await refusal(undefined)).toBe('401 unauthorized')
    expect(await refusal('Bearer forged')).toBe('401 unauthorized')
    expect(await refusal(`Bearer ${operator.bearer}`)).toBe('401 audience_mismatch')
    faulty.failNext('denylist.find', 'before')
    expect(await refusal(`Bearer ${who.bearer}`)).toBe('503 session_enforcement_unavailable')
    await host.auth.client.terminateSession(principal.sessionId ?? '')
    expect(await refusal(`Bearer ${who.bearer}`)).toBe('401 session_revoked')
    await host.clock.advance(900_000)
    expect(await refusal(`Bearer ${who.bearer}`)).toBe('401 unauthorized')
  })

  it('the rules that hosts apply themselves are there in code', async () => {
    const { auth } = host
    const who = await signedInPerson(host, 'operator')
    expect(PERMISSIONS.map(({ key }) => key)).toContain('auth.service_accounts.manage')
    expect(shortcutGrants('developer', 'auth.service_accounts.manage')).toBe(true)
    expect(shortcutGrants('guest', 'auth.service_accounts.manage')).toBe(false)
    expect(seedOrgRoles(['orders.read', 'auth.service_accounts.manage'])).not.toContain(
      'auth.service_accounts.manage',
    )
    await auth.operator.users.assertRoleAssignable(who.id, 'administrator')
    const { sessionId } = await auth.operator.authenticate(`Bearer ${who.bearer}`)
    expect(await auth.operator.terminateSession(sessionId ?? '')).toBe(true)
    await expect(auth.operator.authenticate(`Bearer ${who.bearer}`)).rejects.toMatchObject({
      code: 'session_revoked',
    })
  })

  it('a principal of one surface is not taken for one of the other', () => {
    type OfClient = Awaited<ReturnType<typeof host.auth.client.authenticate>>
    expectTypeOf<OfClient>().toEqualTypeOf<Principal<'client'>>()
    expectTypeOf<OfClient>().not.toExtend<Principal<'operator'>>()
  })

  it('a user is not made with members that are none', async () => {
    const user = { email: 'x@example.org', enabled: false }
    await expect(host.auth.client.users.create(user)).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(await host.auth.client.users.findByEmail('x@example.org')).toBeNull()
  })
})

describe('mistakes of a first hour are met at once', () => {
  it.each([
    ['expressRouter', () => expressRouter(Object.create(null))],
    ['fetchHandler', () => fetchHandler(Object.create(null))],
    ['postgres', () => postgres(Object.create(null))],
  ])('%s refuses what it cannot use', (name, make) => {
    expect(make).toThrow(new RegExp(`^${name}: needs `))
  })

  it.each([
    ['surfaces.client.baseUrl', { baseUrl: ' https://app.example.com ' }],
    ['surfaces.client.baseUrl', { baseUrl: 'http://app.example.com' }],
  ])('%s: %o', async (option, client) => {
    const surfaces = { operator: { baseUrl: 'https://admin.example.com' }, client }
    await expect(testAuth({ surfaces })).rejects.toMatchObject({ option })
  })

  it('a key function that fails is named', async () => {
    const keys = () => Promise.reject(new Error('no vault'))
    await expect(testAuth({ keys })).rejects.toMatchObject({ option: 'keys' })
  })

  it('the fetch prefix may end in a slash', async () => {
    const { auth } = await testAuth()
    const handle = fetchHandler(auth.both)
    const request = new Request('http://host/identity/v1/auth/client/jwks')
    expect((await handle(request, { prefix: '/identity/' }))?.status).toBe(200)
  })

  it('requests without an address are told of once, with what to do', async () => {
    const { auth, logger } = await testAuth()
    const handle = fetchHandler(auth.client)
    const ask = (context: object) =>
      handle(new Request('https://app.example.com/v1/auth/client/jwks'), context)
    const told = () => logger.lines.filter(({ message }) => message.includes('remoteAddress'))
    await ask({ remoteAddress: '192.0.2.1' })
    expect(told()).toEqual([])
    await ask({})
    await ask({})
    expect(told()).toMatchObject([{ level: 'warn' }])
    const proxied = await testAuth({ trustProxy: 1 })
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    const url = 'https://app.example.com/v1/auth/client/jwks'
    await fetchHandler(proxied.auth.client)(new Request(url, { headers }))
    expect(proxied.logger.lines.filter(({ message }) => message.includes('remoteAddress'))).toEqual(
      [],
    )
  })
})
