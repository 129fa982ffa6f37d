import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person, type SignedIn, signedInApp, signedInPerson } from '../../support/people/people.js'

const other = { operator: 'client', client: 'operator' } as const
const hostOf = { operator: 'admin.example.com', client: 'app.example.com' }

/** The surface a successful reply was minted for. */
function audienceOf(reply: Reply): unknown {
  const token = String(reply.json()['accessToken'])
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).aud
}

function minted(reply: Reply, surface: Surface): void {
  expect(reply.status, reply.text).toBe(200)
  expect(audienceOf(reply)).toBe(surface)
}

/** Of somebody who signed in on this surface, wherever that was served. */
async function signedInOn(host: ContractHost, surface: Surface): Promise<SignedIn> {
  const { email, password } = await person(host, surface)
  const routes = host.auth[surface]
  const bytes = new TextEncoder().encode(JSON.stringify({ email, password }))
  const reply = await routes.handle({
    method: 'POST',
    path: `/v1/auth/${surface}/login`,
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    query: '',
    remoteAddress: '192.0.2.1',
    body: async () => ({ kind: 'bytes', bytes }),
  })
  const cookie = reply?.cookies[0]?.split(';')[0] ?? ''
  const bearer = String(JSON.parse(reply?.body ?? '{}').accessToken)
  return { bearer, cookie, refreshToken: cookie.slice(cookie.indexOf('=') + 1) }
}

describe.each(
  eachFramework.cells.flatMap((kind) =>
    (['operator', 'client'] as const).map((surface) => ({ ...kind, surface })),
  ),
)('auth.$surface alone on $name', ({ start, surface }) => {
  let host: ContractHost
  const foreign = other[surface]
  beforeAll(async () => {
    host = await start({ ...withoutLimits, mount: surface })
  })
  afterAll(() => host.close())

  it('answers the unprefixed paths as its own, whatever Host says', async () => {
    const raw = rawClient(host.url)
    const { cookie } = await signedInPerson(host, surface)
    const { refreshToken } = await signedInApp(host, surface)
    for (const name of [hostOf[surface], hostOf[foreign], 'anything.example']) {
      const headers = { cookie, host: name }
      minted(await raw('GET', '/v1/auth/session', { headers }), surface)
    }
    const rotated = await host.send('POST', '/v1/auth/refresh', { body: { refreshToken } })
    minted(rotated, surface)
    minted(await host.send('POST', '/v1/auth/refresh-cookie', { cookie }), surface)
    expectProblem(await host.send('POST', '/v1/auth/session'), 405, 'method_not_allowed')
    expectProblem(await host.send('GET', '/v1/auth/refresh'), 405, 'method_not_allowed')
  })

  it('never mints from the other surface’s cookie or token', async () => {
    const { cookie, refreshToken, bearer } = await signedInOn(host, foreign)
    expectProblem(await host.send('GET', '/v1/auth/session', { cookie }), 401)
    expectProblem(await host.send('POST', '/v1/auth/refresh-cookie', { cookie }), 401)
    const body = { refreshToken }
    const refused = await host.send('POST', '/v1/auth/refresh', { body })
    expectProblem(refused, 401, 'audience_mismatch')
    const crossed = await host.send('GET', '/v1/auth/session', { cookie, bearer })
    expectProblem(crossed, 401, 'audience_mismatch')
  })

  it('knows no route of the other surface, not even that there is none', async () => {
    const mine = await signedInPerson(host, surface)
    const theirs = await signedInOn(host, foreign)
    for (const path of ['', '/me', '/login', '/jwks', '/nope', '/session']) {
      for (const bearer of [mine.bearer, theirs.bearer]) {
        const reply = await host.send('GET', `/v1/auth/${foreign}${path}`, { bearer })
        expect(reply.status).toBe(404)
        expect(reply.headers.get('content-type') ?? '').not.toMatch(/json/)
      }
    }
    // Machines get their tokens on the operators' host alone (T-51), which administration is on too.
    const operators = surface === 'client' ? ['/v1/auth/token', '/v1/admin', '/v1/admin/x'] : []
    for (const path of ['/v1/auth', '/v1/auth/nope', '/v1/administration', ...operators]) {
      const reply = await host.send('GET', path, { bearer: mine.bearer })
      expect(reply.status).toBe(404)
      expect(reply.headers.get('content-type') ?? '', path).not.toMatch(/json/)
    }
  })

  it('answers JSON for everything below its own prefix', async () => {
    expectProblem(await host.send('GET', `/v1/auth/${surface}`), 404, 'not_found')
    expectProblem(await host.send('GET', `/v1/auth/${surface}/nope`), 404, 'not_found')
    expectProblem(await host.send('GET', `/v1/auth/${surface}/login`), 405, 'method_not_allowed')
    const { bearer } = await signedInOn(host, foreign)
    const nope = await host.send('GET', `/v1/auth/${surface}/nope`, { bearer })
    expectProblem(nope, 401, 'audience_mismatch')
  })

  if (surface === 'client') return
  it('answers JSON below /v1/admin, and 401 to a client', async () => {
    const own = await signedInPerson(host, surface)
    const theirs = await signedInOn(host, foreign)
    for (const path of ['/v1/admin', '/v1/admin/', '/v1/admin/nope', '/v1/admin/modules/']) {
      expectProblem(await host.send('GET', path), 404, 'not_found')
      expectProblem(await host.send('GET', path, { bearer: own.bearer }), 404, 'not_found')
      const refused = await host.send('POST', path, { bearer: theirs.bearer })
      expectProblem(refused, 401, 'audience_mismatch')
    }
    expectProblem(await host.send('PUT', '/v1/admin/modules'), 405, 'method_not_allowed')
  })
})

eachFramework.describe('auth.both', ({ start }) => {
  let host: ContractHost
  let raw: RawSend
  const hosts = ['127.0.0.1', 'somewhere.example']
  beforeAll(async () => {
    const { operator, client } = withoutLimits.surfaces
    const surfaces = { operator: { ...operator, hosts }, client: { ...client, hosts } }
    host = await start({ ...withoutLimits, surfaces })
    raw = rawClient(host.url)
  })
  afterAll(() => host.close())

  const session = (cookie: string, name = 'somewhere.example') =>
    raw('GET', '/v1/auth/session', { headers: { cookie, host: name } })

  it.each(['operator', 'client'] as const)(
    'the Host of the %s surface decides first',
    async (s) => {
      const own = await signedInPerson(host, s)
      const foreign = await signedInPerson(host, other[s])
      for (const name of [hostOf[s], hostOf[s].toUpperCase()]) {
        const cookies = `${foreign.cookie}; ${own.cookie}`
        minted(await session(own.cookie, name), s)
        minted(await session(cookies, name), s)
        const headers = { host: name }
        const prefixed = (cookie: string) =>
          raw('GET', `/v1/auth/${s}/session`, { headers: { ...headers, cookie } })
        minted(await prefixed(cookies), s)
        for (const refused of [
          await session(foreign.cookie, name),
          await prefixed(foreign.cookie),
        ]) {
          expectProblem(refused, 401)
          expect(refused.setCookies).toEqual([])
        }
        const body = JSON.stringify({ refreshToken: foreign.refreshToken })
        const json = { ...headers, 'content-type': 'application/json' }
        const refused = await raw('POST', '/v1/auth/refresh', { headers: json, body })
        expectProblem(refused, 401, 'audience_mismatch')
      }
    },
  )

  it.each(['operator', 'client'] as const)(
    'the Host of the %s surface has nothing below the other’s prefix',
    async (s) => {
      const own = await signedInPerson(host, s)
      const foreign = await signedInPerson(host, other[s])
      const me = (surface: Surface, name: string, bearer: string) =>
        raw('GET', `/v1/auth/${surface}/me`, {
          headers: { host: name, authorization: `Bearer ${bearer}` },
        })
      expectProblem(await me(other[s], hostOf[s], foreign.bearer), 404, 'not_found')
      expectProblem(await me(other[s], hostOf[s], own.bearer), 404, 'not_found')
      expect((await me(s, hostOf[s], own.bearer)).status).toBe(200)
      expect((await me(s, 'somewhere.example', own.bearer)).status).toBe(200)
    },
  )

  it.each(['operator', 'client'] as const)('else the one cookie sent, of %s', async (s) => {
    const { cookie } = await signedInPerson(host, s)
    minted(await session(cookie), s)
    minted(await session(`theme=dark; ${cookie}; x=y`), s)
    const headers = { cookie, host: 'somewhere.example' }
    minted(await raw('POST', '/v1/auth/refresh-cookie', { headers }), s)
  })

  it.each(['operator', 'client'] as const)('else the token in the body, of %s', async (s) => {
    const { refreshToken } = await signedInApp(host, s)
    const headers = { 'content-type': 'application/json', host: 'somewhere.example' }
    const body = JSON.stringify({ refreshToken })
    const reply = await raw('POST', '/v1/auth/refresh', { headers, body })
    minted(reply, s)
    expect(reply.setCookies).toEqual([])
    await host.clock.advance(8 * 24 * 3600 * 1000)
    const expired = await raw('POST', '/v1/auth/refresh', { headers, body })
    expectProblem(expired, 401, 'refresh_token_expired')
  })

  it('else the default surface', async () => {
    const operator = await signedInPerson(host, 'operator')
    const client = await signedInPerson(host, 'client')
    minted(await session(`${client.cookie}; ${operator.cookie}`), 'operator')
    expectProblem(await session(''), 401)
    const forOperator = await raw('GET', '/v1/auth/session', {
      headers: { authorization: `Bearer ${client.bearer}` },
    })
    expectProblem(forOperator, 401, 'audience_mismatch')
  })

  it('does not stumble over a body that is none', async () => {
    const headers = { 'content-type': 'application/json' }
    for (const body of ['', 'nope', 'null', '[]', '{}', '{"refreshToken":1}']) {
      const reply = await raw('POST', '/v1/auth/refresh', { headers, body })
      expectProblem(reply, 400, 'invalid_request')
    }
    const body = JSON.stringify({ refreshToken: 'x.y.z' })
    const garbage = await raw('POST', '/v1/auth/refresh', { headers, body })
    expectProblem(garbage, 401, 'refresh_token_invalid')
    const large = await raw('POST', '/v1/auth/refresh', { headers, body: ' '.repeat(70_000) })
    expectProblem(large, 413, 'payload_too_large')
    expectProblem(await raw('GET', '/v1/auth/refresh'), 405, 'method_not_allowed')
    expectHouseHeaders(await raw('POST', '/v1/auth/session'))
  })
})

it('follows the option defaultSurface', async () => {
  const host = await memoryHost.start({ ...withoutLimits, defaultSurface: 'client' })
  const operator = await signedInPerson(host, 'operator')
  const client = await signedInPerson(host, 'client')
  const cookie = `${operator.cookie}; ${client.cookie}`
  minted(await host.send('GET', '/v1/auth/session', { cookie }), 'client')
  await host.close()
})

it('two surfaces on one host name are told apart by cookie and token', async () => {
  const baseUrl = 'https://one.example.com'
  const surfaces = { operator: { baseUrl }, client: { baseUrl } }
  const host = await memoryHost.start({ surfaces })
  const raw = rawClient(host.url)
  const { cookie } = await signedInPerson(host, 'client')
  const { refreshToken } = await signedInApp(host, 'client')
  const headers = { host: 'one.example.com', 'content-type': 'application/json' }
  const session = await raw('GET', '/v1/auth/session', { headers: { ...headers, cookie } })
  minted(session, 'client')
  const body = JSON.stringify({ refreshToken })
  minted(await raw('POST', '/v1/auth/refresh', { headers, body }), 'client')
  await host.close()
})
