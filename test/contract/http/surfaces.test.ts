import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import { operations } from '../../../src/operations/index.js'
import type { PermissionQuestion } from '../../../src/ports/host.js'
import type { Surface } from '../../../src/ports/surface.js'
import { encode, forge, rsaPair } from '../../crypto/forge.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  goodPassword,
  otherPassword,
  person,
  type SignedIn,
  signedInApp,
  signedInPerson,
} from '../../support/people/people.js'
import { spyBackend } from '../../support/stores/spy-backend.js'
import { locationOf, memberOf, oauthHost, webTarget } from '../oauth/oauth-host.js'

const pairs = [
  { door: 'operator', token: 'client' },
  { door: 'client', token: 'operator' },
] as const

/** Machines get their tokens there, whatever else they bring. */
const ofMachines = /^\/v1\/auth\/(token|oauth2\/token)$/

const refreshCookieName = { operator: '__Host-op_refresh', client: '__Host-cl_refresh' }

eachFramework.describe('two surfaces', ({ start }) => {
  let host: ContractHost
  const signedIn: Partial<Record<Surface, SignedIn>> = {}
  const tokensOf = (surface: Surface): SignedIn => {
    const found = signedIn[surface]
    if (found === undefined) throw new Error(`nobody is signed in on ${surface}`)
    return found
  }
  beforeAll(async () => {
    host = await start(withoutLimits)
    for (const { door } of pairs) signedIn[door] = await signedInPerson(host, door)
  })
  afterAll(() => host.close())

  it('keeps two accounts of one address apart, in collections of their own', async () => {
    const { send, mailer } = host
    const email = 'twice@example.org'
    const ids: unknown[] = []
    for (const surface of ['operator', 'client'] as const) {
      const at = (path: string): string => `/v1/auth/${surface}${path}`
      const body = { email, password: goodPassword }
      const registered = await send('POST', at('/register'), { body })
      expect([registered.status, registered.text]).toEqual([
        201,
        '{"status":"verificationRequired"}',
      ])
      await host.auth.close()
      const { token } = mailer.last('verifyEmail', email).data
      const other = surface === 'operator' ? 'client' : 'operator'
      const elsewhere = await send('POST', `/v1/auth/${other}/email/verify`, { body: { token } })
      expectProblem(elsewhere, 400, 'invalid_token')
      const chosen = { token, newPassword: goodPassword }
      expect((await send('POST', at('/email/verify'), { body: chosen })).status).toBe(200)
      const login = await send('POST', at('/login'), { body })
      const bearer = textOf(login.json(), 'accessToken')
      ids.push((await send('GET', at('/me'), { bearer })).json()['id'])
      if (surface === 'client') continue
      const change = { currentPassword: goodPassword, newPassword: otherPassword }
      const changed = await send('POST', at('/me/password'), { bearer, body: change })
      expect(changed.status).toBe(204)
    }
    expect(new Set(ids).size).toBe(2)
    const { users } = host.auth.operator
    expect((await host.auth.client.users.findByEmail(email))?.id).toBe(ids[1])
    expect((await users.findByEmail(email))?.id).toBe(ids[0])
    expect(await users.get(String(ids[1]))).toBeNull()
    // Users, sessions, refresh tokens, factors, devices and identities: no name is on both.
    const names = allCollectionSpecs('').map(({ name }) => name)
    for (const kind of [
      ...['users', 'sessions', 'refresh_tokens', 'totp_factors', 'passkeys'],
      ...['backup_codes', 'trusted_devices', 'oauth_identities'],
    ]) {
      expect(names).toEqual(expect.arrayContaining([`operator_${kind}`, `client_${kind}`]))
    }
    // The operator's new password is not the client's.
    const body = { email, password: otherPassword }
    expect((await send('POST', '/v1/auth/operator/login', { body })).status).toBe(200)
    const refused = await send('POST', '/v1/auth/client/login', { body })
    expectProblem(refused, 401, 'invalid_credentials')
  })

  describe.each(pairs)('a $token token at the $door door', ({ door, token }) => {
    const at = (path: string): string => `/v1/auth/${door}${path}`

    const doors = [
      ['GET', '/me'],
      ['PATCH', '/me'],
      ['POST', '/me/password'],
      ['GET', '/nope'],
      ['POST', ''],
      ['DELETE', '/me'],
      ['OPTIONS', '/me'],
      ['POST', '/login'],
      ['POST', '/mobile/login'],
      ['POST', '/register'],
      ['POST', '/email/verify'],
      ['POST', '/email/verify/resend'],
      ['POST', '/password/forgot'],
      ['POST', '/password/reset'],
      ['POST', '/logout'],
      ['POST', '/refresh'],
      ['POST', '/refresh-cookie'],
      ['GET', '/session'],
      ['GET', '/jwks'],
    ] as const

    it('is refused with audience_mismatch wherever it knocks, on guarded routes and where there is none', async () => {
      const { bearer } = tokensOf(token)
      const { cookie } = tokensOf(door)
      for (const [method, path] of doors) {
        const reply = await host.send(method, at(path), { bearer, cookie })
        expect(reply.setCookies, `${method} ${path}`).toEqual([])
        expectProblem(reply, 401, 'audience_mismatch')
      }
      // The door's own token gets further than that.
      expect((await host.send('GET', at('/me'), { bearer: tokensOf(door).bearer })).status).toBe(
        200,
      )
      if (door === 'client') return
      for (const path of ['/v1/admin/modules', '/v1/admin/service-accounts', '/v1/admin/nope']) {
        expectProblem(await host.send('GET', path, { bearer }), 401, 'audience_mismatch')
      }
    })

    it('is refused by every operation of the surface, and by the public ones only until it expires', async () => {
      const { bearer } = tokensOf(token)
      const { origin } = new URL(
        host.auth[door] === host.auth.client
          ? 'https://app.example.com'
          : 'https://admin.example.com',
      )
      const asked = operations.filter(
        ({ surfaces, path }) =>
          surfaces.some((surface) => surface === door) && !ofMachines.test(path),
      )
      expect(asked.length).toBeGreaterThan(40)
      for (const { id, method, path } of asked) {
        const filled = path.replace('{surface}', door).replace('{provider}', 'google')
        const at = filled.replaceAll(/\{\w+\}/g, 'x')
        const reply = await host.send(method, at, { bearer, headers: { origin } })
        expect([id, reply.status, reply.code]).toEqual([id, 401, 'audience_mismatch'])
        expect(reply.headers.get('cache-control'), id).toBe('no-store')
      }
    })

    it('leaves the row of a foreign refresh token as it is', async () => {
      const { cookie, refreshToken, id } = await signedInApp(host, token)
      const body = { refreshToken }
      const stored = () => storedIn(host, token).families.find({ userId: id }, { limit: 5 })
      const before = await stored()
      expect(before).toHaveLength(1)
      const foreign = `${refreshCookieName[door]}=${refreshToken}`
      const refused = [
        await host.send('POST', at('/refresh'), { body }),
        await host.send('POST', at('/refresh-cookie'), { cookie: foreign }),
        await host.send('GET', at('/session'), { cookie: foreign }),
        await host.send('POST', at('/logout'), { body }),
        await host.send('POST', at('/logout'), { cookie: foreign }),
      ]
      for (const reply of refused) expectProblem(reply, 401, 'audience_mismatch')
      const missing = await host.send('POST', at('/refresh-cookie'), { cookie })
      expectProblem(missing, 401)
      expect(await stored()).toEqual(before)
      const own = await host.send('POST', `/v1/auth/${token}/refresh`, { body })
      expect([own.status, own.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
    })

    it('says nothing about the surface of a token it did not sign', async () => {
      const { bearer, refreshToken } = tokensOf(token)
      const [header = '', payload = '', signature = ''] = bearer.split('.')
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
      const { privateKey } = rsaPair()
      const flipped = signature[9] === 'A' ? 'B' : 'A'
      const forged = [
        `${encode({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
        `${header}.${payload}.`,
        `${header}.${payload}.${signature.slice(0, 9)}${flipped}${signature.slice(10)}`,
        `${header}.${encode({ ...claims, sub: 'somebody' })}.${signature}`,
        forge(JSON.parse(Buffer.from(header, 'base64url').toString()), claims, privateKey),
        refreshToken,
      ]
      for (const token of forged) {
        expectProblem(await host.send('GET', at('/me'), { bearer: token }), 401)
        expectProblem(await host.send('GET', at('/nope'), { bearer: token }), 404, 'not_found')
        const body = { email: 'a@example.org', password: 'x' }
        const login = await host.send('POST', at('/login'), { bearer: token, body })
        expectProblem(login, 401, 'invalid_credentials')
      }
    })
  })
})

it('the surfaces have collections of their own, and the same ones', () => {
  const all = allCollectionSpecs('').map(({ name }) => name)
  // There is one configuration, and operators administer it; machines are operators.
  const single = /^operator_modules?(_|$)|^service_account_credentials$/
  const names = all.filter((name) => !single.test(name))
  expect(all.length - names.length).toBe(4)
  const of = (surface: Surface) =>
    names.filter((name) => name.startsWith(`${surface}_`)).map((name) => name.split('_').slice(1))
  expect(of('operator')).toEqual(of('client'))
  expect(of('operator').length + of('client').length).toBe(names.length)
  expect(new Set(names).size).toBe(names.length)
})

describe.each(pairs)('a $token token at the $door door', ({ door, token }) => {
  it('is refused before store, authorizer and body are looked at', async () => {
    const spy = spyBackend()
    const asked: PermissionQuestion[] = []
    const check = async (question: PermissionQuestion) => asked.push(question) > 0
    const host = await openHost({ backend: spy.backend, authorizer: { check } })
    const { bearer } = await signedInPerson(host, token)
    spy.calls.length = 0
    const requests = [
      ['PATCH', '/me', 'no JSON at all'],
      ['PATCH', '/me', '{"name":"Eve"}'],
      ['PATCH', '/me', '{"enabled":false}'],
      ['POST', '/me/password', 'x'.repeat(70_000)],
      ['POST', '/login', '[]'],
      ['POST', '/register', `{"email":"eve@example.org","password":"${goodPassword}"}`],
      ['POST', '/nope', '{}'],
    ]
    for (const [method = '', path = '', body = ''] of requests) {
      const reply = await host.send(method, `/v1/auth/${door}${path}`, { bearer, body })
      expectProblem(reply, 401, 'audience_mismatch')
    }
    expect([spy.calls, asked]).toEqual([[], []])
    // The same token at its own door is asked about, so the spies do see.
    await host.send('GET', `/v1/auth/${token}/me`, { bearer })
    expect(asked).toMatchObject([{ surface: token, permission: 'auth.self' }])
    expect(spy.calls).toContain(`${token}_users.get`)
  })

  it('is told so even when it has expired or was signed out', async () => {
    const host = await openHost()
    const { bearer } = await signedInPerson(host, token)
    expect((await host.send('POST', `/v1/auth/${token}/logout`, { bearer })).status).toBe(204)
    const foreign = () => host.send('GET', `/v1/auth/${door}/me`, { bearer })
    const options = () => host.send('GET', `/v1/auth/${door}/options`, { bearer })
    for (const ask of [foreign, options]) expectProblem(await ask(), 401, 'audience_mismatch')
    await host.clock.advance(24 * 3600 * 1000)
    expectProblem(await foreign(), 401, 'audience_mismatch')
    // A door that is open to all ignores an expired token, like any other that proves nothing.
    expect((await options()).status).toBe(200)
    expectProblem(await host.send('GET', `/v1/auth/${token}/me`, { bearer }), 401)
  })
})

describe('rate limits', () => {
  it('are counted per surface, each with its own number', async () => {
    const host = await memoryHost.start()
    const attempt = (surface: Surface, n: number) =>
      host.send('POST', `/v1/auth/${surface}/login`, {
        body: { email: `nobody-${n}@example.org`, password: 'x' },
      })
    const allowed = async (surface: Surface): Promise<number> => {
      for (let n = 0; n < 200; n += 1) {
        const reply = await attempt(surface, n)
        if (reply.status === 429) return n
        expectProblem(reply, 401, 'invalid_credentials')
      }
      throw new Error('there is no limit')
    }
    expect(await allowed('client')).toBe(60)
    expectProblem(await attempt('client', 0), 429, 'rate_limited')
    expect(await allowed('operator')).toBe(20)
    await host.clock.advance(60_000)
    expectProblem(await attempt('client', 0), 401, 'invalid_credentials')
    await host.close()
  })

  it('of one surface’s options change nothing on the other', async () => {
    const registerPerIp = { limit: 1, windowMs: 60_000 }
    const { operator, client } = withoutLimits.surfaces
    const host = await memoryHost.start({
      ...withoutLimits,
      surfaces: { operator: { ...operator, rateLimits: { registerPerIp } }, client },
    })
    const statuses: number[] = []
    for (const surface of ['operator', 'operator', 'client', 'client'] as const) {
      const body = { email: `${statuses.length}@example.org`, password: goodPassword }
      statuses.push((await host.send('POST', `/v1/auth/${surface}/register`, { body })).status)
    }
    expect(statuses).toEqual([201, 429, 201, 201])
    await host.close()
  })
})

it('registration follows a switch of each surface, by password and by a provider', async () => {
  for (const open of [
    { operator: true, client: true },
    { operator: true, client: false },
    { operator: false, client: true },
    { operator: false, client: false },
  ]) {
    const host = await oauthHost({
      settings: {
        registrationOperatorEnabled: open.operator,
        registrationClientEnabled: open.client,
      },
    })
    for (const surface of ['operator', 'client'] as const) {
      const body = { email: 'ada@example.org', password: goodPassword }
      const reply = await host.send('POST', `/v1/auth/${surface}/register`, { body })
      const account = { subject: '1815', email: 'grace@example.org', verified: true }
      const web = await host.signIn(surface, 'google', account)
      if (open[surface]) {
        expect(reply.status).toBe(201)
        expect(locationOf(web)).toBe(webTarget[surface])
      } else {
        expectProblem(reply, 403, 'registration_disabled')
        expect([memberOf(web, 'error'), web.setCookies]).toEqual(['registration_disabled', []])
      }
      const made = await person(host, surface)
      // People made in code sign in either way.
      const login = await host.send('POST', `/v1/auth/${surface}/login`, {
        body: { email: made.email, password: made.password },
      })
      expect(login.status).toBe(200)
    }
  }
})
