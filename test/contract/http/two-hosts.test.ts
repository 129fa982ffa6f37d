import { createServer } from 'node:http2'
import Koa from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchHandler } from '../../../adapters/fetch.js'
import { koaRouter } from '../../../adapters/koa.js'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { http2Client } from '../../support/hosts/http2-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { listen } from '../../support/hosts/running-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'

const surfaces = ['operator', 'client'] as const
const nameOf = { operator: 'admin.example.com', client: 'app.example.com' }
const { operator, client } = withoutLimits.surfaces
/** The hosts of `baseUrl` and no other: not even the address where this test reaches it. */
const twoHosts = {
  ...withoutLimits,
  surfaces: { operator: { ...operator, hosts: [] }, client: { ...client, hosts: [] } },
}

/** A path of each surface, and one that only the host's surface answers. */
async function answeringSurface(raw: RawSend, host: string, who: Signed): Promise<Surface | null> {
  const at = (path: string, cookie = '') =>
    raw('GET', path, { headers: { host, cookie: `${cookie}; x=y` } })
  const prefixed = await Promise.all(surfaces.map((surface) => at(`/v1/auth/${surface}/me`)))
  const session = await at('/v1/auth/session', `${who.operator.cookie}; ${who.client.cookie}`)
  const answered = surfaces.filter((_surface, index) => prefixed[index]?.status === 401)
  for (const reply of prefixed) if (reply.status !== 401) expectProblem(reply, 404, 'not_found')
  const [only = null, ...more] = answered
  expect(more).toEqual([])
  if (only === null) expectProblem(session, 404, 'not_found')
  else expect(audienceOf(session)).toBe(only)
  return only
}

type Signed = Readonly<Record<Surface, Person & SignedIn>>

function audienceOf(reply: Reply): unknown {
  expect(reply.status, reply.text).toBe(200)
  const token = String(reply.json()['accessToken'])
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).aud
}

/** Signed in where both surfaces are answered. */
async function signedInOnBoth(host: ContractHost): Promise<Signed> {
  return {
    operator: await signedInPerson(atHost(host, 'operator'), 'operator'),
    client: await signedInPerson(atHost(host, 'client'), 'client'),
  }
}

/** Its requests name the host of this surface. */
function atHost(host: ContractHost, surface: Surface): ContractHost {
  const raw = rawClient(host.url)
  return {
    ...host,
    send: (method, path, { body, headers = {} } = {}) =>
      raw(method, path, {
        headers: { ...headers, host: nameOf[surface], 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

eachFramework.describe('two hosts', ({ start }) => {
  let host: ContractHost
  let raw: RawSend
  let who: Signed
  beforeAll(async () => {
    host = await start(twoHosts)
    raw = rawClient(host.url)
    who = await signedInOnBoth(host)
  })
  afterAll(() => host.close())

  it.each(surfaces)('each answers its own surface, however its name is written: %s', async (s) => {
    const name = nameOf[s]
    for (const host of [name, `${name}:8443`, `${name}.`, `${name}.:443`, name.toUpperCase()]) {
      expect(await answeringSurface(raw, host, who), host).toBe(s)
    }
  })

  it.each([
    '127.0.0.1',
    'example.com',
    'x.app.example.com',
    'app.example.com.evil.example',
    'app.example.com..',
    'evil.example:443',
    '[::1]',
  ])('an unknown host is nobody’s: %j', async (name) => {
    expect(await answeringSurface(raw, name, who)).toBeNull()
  })

  it('believes no stranger’s X-Forwarded-Host', async () => {
    const headers = { host: 'nowhere.example', 'x-forwarded-host': nameOf.client }
    expectProblem(await raw('GET', '/v1/auth/client/me', { headers }), 404, 'not_found')
  })

  it('answers for keys and for machines’ tokens on every host', async () => {
    for (const name of [nameOf.operator, nameOf.client, '10.0.0.7:3000']) {
      const headers = { host: name, 'content-type': 'application/json' }
      for (const surface of surfaces) {
        const keys = await raw('GET', `/v1/auth/${surface}/jwks`, { headers })
        expect(keys.status, keys.text).toBe(200)
      }
      const token = await raw('POST', '/v1/auth/token', { headers, body: '{}' })
      expectProblem(token, 400, 'invalid_request')
    }
  })
})

describe('which host a request names', () => {
  it('an empty name, a missing one and no name at all are nobody’s', async () => {
    const { auth } = await testAuth(twoHosts)
    for (const name of ['', ' ', '/', '@', 'a b', 'app.example.com, app.example.com', undefined]) {
      const reply = await auth.both.handle({
        method: 'GET',
        path: '/v1/auth/client/me',
        query: '',
        header: (header) => (header === 'host' ? name : undefined),
        remoteAddress: '192.0.2.1',
        body: async () => ({ kind: 'empty' }),
      })
      expect([name, reply?.status]).toEqual([name, 404])
    }
  })

  it('the URL of a fetch request counts where it carries no Host', async () => {
    const handle = fetchHandler((await testAuth(twoHosts)).auth.both)
    const status = async (url: string, headers: Record<string, string> = {}) =>
      (await handle(new Request(url, { headers }), { remoteAddress: '192.0.2.1' }))?.status
    const path = '/v1/auth/client/me'
    expect(await status(`https://app.example.com${path}`)).toBe(401)
    expect(await status(`https://admin.example.com${path}`)).toBe(404)
    expect(await status(`http://localhost:3000${path}`, { host: 'app.example.com' })).toBe(401)
    expect(await status(`https://app.example.com${path}`, { host: 'nowhere.example' })).toBe(404)
  })

  it('of HTTP/2, :authority counts, before any Host', async () => {
    const { auth } = await testAuth(twoHosts)
    const app = new Koa().use(koaRouter(auth.both)).callback()
    const running = await listen(createServer((request, response) => void app(request, response)))
    const send = http2Client(running.url)
    const me = (authority: string, host?: string) =>
      send({
        ':path': '/v1/auth/client/me',
        ':authority': authority,
        ...(host === undefined ? {} : { host }),
      })
    expect((await me('app.example.com:8443')).status).toBe(401)
    expect((await me('admin.example.com')).status).toBe(404)
    expect((await me('admin.example.com', 'app.example.com')).status).toBe(404)
    expect((await me('app.example.com', 'nowhere.example')).status).toBe(401)
    await running.close()
  })

  it('a trusted proxy says which one was asked for, where its own name says nothing', async () => {
    const host = await openHost({ ...twoHosts, trustProxy: 1 })
    const raw = rawClient(host.url)
    const status = async (name: string, forwarded: string) => {
      const headers = { host: name, 'x-forwarded-host': forwarded }
      return (await raw('GET', '/v1/auth/client/me', { headers })).status
    }
    expect(await status('pod-7.internal:3000', 'app.example.com')).toBe(401)
    expect(await status('pod-7.internal:3000', 'forged.example, app.example.com')).toBe(401)
    expect(await status('pod-7.internal:3000', 'app.example.com, forged.example')).toBe(404)
    expect(await status('pod-7.internal:3000', 'admin.example.com')).toBe(404)
    // A proxy that names the host itself may pass on whatever a client wrote there.
    expect(await status('admin.example.com', 'app.example.com')).toBe(404)
    expect(await status('app.example.com', 'admin.example.com')).toBe(401)
  })
})

describe('the hosts of a surface', () => {
  const statusAt = async (surfaces: object, name: string): Promise<readonly number[]> => {
    const given = { operator: { ...operator, hosts: [] }, client: { ...client, hosts: [] } }
    const host = await openHost({ ...withoutLimits, surfaces: { ...given, ...surfaces } })
    const raw = rawClient(host.url)
    const me = (surface: Surface) =>
      raw('GET', `/v1/auth/${surface}/me`, { headers: { host: name } })
    return [(await me('operator')).status, (await me('client')).status]
  }

  it('are those of baseUrl, routesUrl and the option hosts', async () => {
    const routesUrl = 'https://auth.example.com/identity'
    const more = { client: { ...client, routesUrl, hosts: ['app.internal', '10.0.0.5:3000'] } }
    for (const name of ['auth.example.com', 'app.internal:81', '10.0.0.5', 'app.example.com']) {
      expect(await statusAt(more, name), name).toEqual([404, 401])
    }
    expect(await statusAt(more, 'admin.example.com')).toEqual([401, 404])
  })

  it('may have one name and two ports', async () => {
    const one = { operator: { baseUrl: 'http://localhost:3000' } }
    const two = { ...one, client: { baseUrl: 'http://localhost:3001' } }
    const none = { hosts: [] }
    const surfaces = {
      operator: { ...two.operator, ...none },
      client: { ...two.client, ...none },
    }
    expect(await statusAt(surfaces, 'localhost:3000')).toEqual([401, 404])
    expect(await statusAt(surfaces, 'LOCALHOST.:3001')).toEqual([404, 401])
    expect(await statusAt(surfaces, 'localhost')).toEqual([404, 404])
    const byDefault = {
      operator: { baseUrl: 'https://example.com', hosts: [] },
      client: { baseUrl: 'https://example.com:8443', hosts: [] },
    }
    expect(await statusAt(byDefault, 'example.com')).toEqual([401, 404])
    expect(await statusAt(byDefault, 'example.com:443')).toEqual([401, 404])
    expect(await statusAt(byDefault, 'example.com:8443')).toEqual([404, 401])
    expect(await statusAt(byDefault, 'example.com:80')).toEqual([404, 404])
  })

  it('that both list is both’s, as any host is where all of them are', async () => {
    const hosts = ['gateway.internal']
    const shared = { operator: { ...operator, hosts }, client: { ...client, hosts } }
    expect(await statusAt(shared, 'gateway.internal:8080')).toEqual([401, 401])
    expect(await statusAt(shared, 'app.example.com')).toEqual([404, 401])
    const baseUrl = 'https://one.example.com'
    const one = { operator: { baseUrl, hosts: [] }, client: { baseUrl, hosts: [] } }
    for (const name of ['one.example.com', 'anything.example', '10.0.0.7']) {
      expect(await statusAt(one, name)).toEqual([401, 401])
    }
  })

  it('are missing from the options: each unknown host is told of once, ten at most', async () => {
    const host = await openHost(twoHosts)
    const raw = rawClient(host.url)
    const ask = (name: string, path = '/v1/auth/session') =>
      raw('GET', path, { headers: { host: name } })
    const warnings = () =>
      host.logger.lines.filter(({ message }) => message.startsWith('no surface'))
    await ask('app.example.com')
    await ask('app.example.com', '/v1/auth/operator/me')
    await ask('unknown.example', '/v1/auth/client/jwks')
    expect(warnings()).toEqual([])
    await ask('unknown.example:81')
    await ask('unknown.example:81', '/v1/auth/client/me')
    expect(warnings()).toHaveLength(1)
    expect(warnings()[0]?.message).toBe(
      'no surface has the host "unknown.example:81", so requests to it get 404; if it is yours, add it to surfaces.operator.hosts or surfaces.client.hosts',
    )
    for (let n = 0; n < 30; n += 1) await ask(`scan-${n}.example`)
    expect(warnings()).toHaveLength(10)
  })
})
