import { afterAll, beforeAll, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { type RawSend, rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Person, type SignedIn, signedInPerson } from '../../support/people/people.js'

const surfaces = ['operator', 'client'] as const
const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Below both surfaces' prefixes. */
const routes: Readonly<Record<string, readonly string[]>> = {
  '/register': ['POST'],
  '/email/verify': ['POST'],
  '/email/verify/resend': ['POST'],
  '/login': ['POST'],
  '/logout': ['POST'],
  '/refresh-cookie': ['POST'],
  '/session': ['GET', 'HEAD'],
  '/password/forgot': ['POST'],
  '/password/reset': ['POST'],
  '/jwks': ['GET', 'HEAD'],
  '/mobile/login': ['POST'],
  '/refresh': ['POST'],
  '/me': ['GET', 'HEAD', 'PATCH', 'DELETE'],
  '/me/password': ['POST'],
}
const unprefixedRoutes = ['/session', '/refresh-cookie', '/refresh']

const allRoutes = [
  ...surfaces.flatMap((surface) =>
    Object.entries(routes).map(([path, methods]) => ({
      path: `/v1/auth/${surface}${path}`,
      methods,
    })),
  ),
  ...unprefixedRoutes.map((path) => ({ path: `/v1/auth${path}`, methods: routes[path] ?? [] })),
]

it('every path of the operation table carries /v1/', () => {
  const paths = operations.flatMap(({ path, unprefixedPath }) => [path, unprefixedPath ?? path])
  expect(paths.filter((path) => !path.startsWith('/v1/'))).toEqual([])
})

eachFramework.describe('the edge', ({ name, start }) => {
  let host: ContractHost
  let raw: RawSend
  let ada: Person & SignedIn
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

  beforeAll(async () => {
    host = await start(withoutLimits)
    raw = rawClient(host.url)
    ada = await signedInPerson(host, 'operator')
  })
  afterAll(() => host.close())

  it.each([
    '/v1/auth',
    '/v1/auth/',
    '/v1/auth/me',
    '/v1/auth/operator',
    '/v1/auth/operator/',
    '/v1/auth/operator/nope',
    '/v1/auth/operator/me/',
    '/v1/auth/operator/session/x.css',
    '/v1/auth/operator//me',
    '/v1/auth/operator/%6de',
    '/v1/auth/operator%2Fme',
    '/v1/auth/operator/me;x=1',
    '/v1/auth/operator/ME',
    '/v1/auth/Operator/me',
    '/v1/auth/operator/{surface}',
    '/v1/auth/nobody/me',
    '/v1/admin',
    '/v1/admin/nope',
  ])('answers the unknown path %s with a JSON 404', async (path) => {
    expectProblem(await raw('GET', path, { headers: bearer(ada.bearer) }), 404, 'not_found')
  })

  it('answers a path that cannot be decoded, where the framework lets it through', async () => {
    const reply = await raw('GET', '/v1/auth/operator/%zz', { headers: bearer(ada.bearer) })
    // Fastify refuses it before any plugin is asked.
    if (name.startsWith('fastify')) expect([reply.status, reply.setCookies]).toEqual([400, []])
    else expectProblem(reply, 404, 'not_found')
  })

  it.each(['/', '/v1', '/v1/authx', '/v1/auth-me', '/v2/auth/operator/me', '/auth/operator/me'])(
    'leaves %s to the host',
    async (path) => {
      const reply = await raw('GET', path, { headers: bearer(ada.bearer) })
      expect(reply.status).toBe(404)
      expect(reply.headers.get('content-type') ?? '').not.toMatch(/json/)
    },
  )

  it('answers every method a route does not have with 405 and what it has', async () => {
    for (const { path, methods } of allRoutes) {
      for (const method of everyMethod.filter((name) => !methods.includes(name))) {
        const reply = await raw(method, path)
        expect(reply.status, `${method} ${path}`).toBe(405)
        expect(reply.headers.get('allow')?.split(', ').sort()).toEqual([...methods].sort())
        if (method === 'HEAD') expect(reply.text).toBe('')
        else expectProblem(reply, 405, 'method_not_allowed')
      }
    }
  })

  it('knows every method each route has', async () => {
    for (const { path, methods } of allRoutes) {
      for (const method of methods) {
        const { status } = await raw(method, path)
        expect([404, 405, 500, 503], `${method} ${path}`).not.toContain(status)
      }
    }
  })

  it('answers HEAD as GET without the body, and rotates nothing', async () => {
    const credentials = { ...bearer(ada.bearer), cookie: ada.cookie }
    for (const path of ['/me', '/session']) {
      const head = await raw('HEAD', `/v1/auth/operator${path}`, { headers: credentials })
      expect([head.status, head.text, head.setCookies]).toEqual([200, '', []])
      expectHouseHeaders(head)
    }
    const jwks = await raw('HEAD', '/v1/auth/operator/jwks')
    expect([jwks.status, jwks.text]).toEqual([200, ''])
  })

  it('grants no other origin anything: neither preflight nor CORS header', async () => {
    for (const origin of ['https://app.evil', 'null', 'https://app.example.com']) {
      const headers = { ...bearer(ada.bearer), origin, 'access-control-request-method': 'GET' }
      const preflight = await raw('OPTIONS', '/v1/auth/operator/me', { headers })
      const read = await raw('GET', '/v1/auth/operator/me', { headers })
      expect([preflight.status, read.status]).toEqual([405, 200])
      for (const reply of [preflight, read]) {
        const named = [...reply.headers.keys()].filter((name) => name.startsWith('access-control'))
        expect(named).toEqual([])
      }
    }
  })

  it('takes a bearer token from the Authorization header alone', async () => {
    const { bearer: token, cookie, refreshToken } = ada
    const me = '/v1/auth/operator/me'
    const json = { 'content-type': 'application/json' }
    const refused = [
      raw('GET', me),
      raw('GET', `${me}?access_token=${token}`),
      raw('GET', `${me}?token=${token}&bearer=${token}&authorization=Bearer%20${token}`),
      raw('GET', me, { headers: { cookie } }),
      raw('GET', me, { headers: { cookie: `access_token=${token}; ${cookie}` } }),
      raw('PATCH', me, { headers: json, body: JSON.stringify({ name: 'x', access_token: token }) }),
      raw('GET', me, {
        headers: { 'x-access-token': token, 'proxy-authorization': `Bearer ${token}` },
      }),
      ...[
        token,
        'Bearer',
        'Bearer ',
        `Token ${token}`,
        `Basic ${token}`,
        `Basic ${Buffer.from(`ada:${token}`).toString('base64')}`,
        `Bearer ${token} ${token}`,
        `bearer ${token} ${token}`,
        `Bearer ${token},${token}`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer "${token}"`,
        `Bearer\t${token}`,
        `Bearer ${token.slice(0, -2)}`,
        `Bearer ${refreshToken}`,
        'Bearer ..',
        'Bearer garbage',
      ].map((authorization) => raw('GET', me, { headers: { authorization } })),
      raw('GET', me, { headers: { authorization: [`Bearer ${token}`, `Bearer ${token}`] } }),
      raw('GET', me, { headers: { authorization: [`Bearer ${token}`, 'Basic YTpi'] } }),
    ]
    for (const reply of await Promise.all(refused)) {
      expectProblem(reply, 401)
      expect(reply.setCookies).toEqual([])
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER', 'Bearer  ']) {
      const reply = await raw('GET', me, { headers: { authorization: `${scheme} ${token}` } })
      expect(reply.status, scheme).toBe(200)
    }
  })

  it('never answers with a script: a callback in the query changes nothing', async () => {
    const reply = await raw('GET', '/v1/auth/operator/jwks?callback=alert&jsonp=alert')
    expectHouseHeaders(reply, 'public, max-age=300')
    expect(Object.keys(reply.json())).toEqual(['keys'])
  })

  it('counts the length of a reply in bytes', async () => {
    const grace = await signedInPerson(host, 'client')
    const name = 'Ünïcödé 😀 名'
    const path = '/v1/auth/client/me'
    const reply = await host.send('PATCH', path, { bearer: grace.bearer, body: { name } })
    expect(reply.json()['name']).toBe(name)
    const length = reply.headers.get('content-length') ?? Buffer.byteLength(reply.text)
    expect(Number(length)).toBe(Buffer.byteLength(reply.text))
  })
})
