import { createServer } from 'node:http'
import express, { type Express, type RequestHandler } from 'express'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expressRouter } from '../../adapters/express.js'
import { fetchHandler } from '../../adapters/fetch.js'
import { httpClient, type Send, textOf } from '../support/http-client.js'
import { rawClient } from '../support/raw-client.js'
import { listen, type RunningHost, type TestAuth, testAuth } from '../support/test-auth.js'
import { expectHouseHeaders, expectProblem } from './expectations.js'
import { goodPassword } from './people.js'
import { withoutLimits } from './without-limits.js'

const email = 'ada@example.org'
const credentials = { email, password: goodPassword }

let t: TestAuth
let running: RunningHost[]

beforeEach(async () => {
  t = await testAuth(withoutLimits)
  running = []
  for (const surface of ['operator', 'client'] as const) {
    await t.auth[surface].users.create({ ...credentials, emailVerified: true })
  }
})
afterEach(async () => {
  for (const host of running) await host.close()
})

async function serve(build: (app: Express) => void): Promise<string> {
  const app = express()
  build(app)
  const host = await listen(createServer(app))
  running.push(host)
  return host.url
}

async function signInAt(send: Send, path: string) {
  const reply = await send('POST', `${path}/login`, { body: credentials })
  expect(reply.status, reply.text).toBe(200)
  const [cookie = ''] = reply.setCookies[0]?.split(';') ?? []
  return { bearer: textOf(reply.json(), 'accessToken'), cookie }
}

/** Reads the body and keeps it to itself, as a logging middleware might. */
const swallow: RequestHandler = (request, _response, next) => {
  request.on('end', next).resume()
}

const parsers: readonly (readonly [string, RequestHandler[]])[] = [
  ['no parser', []],
  ['express.json()', [express.json()]],
  ['express.json({ strict: false })', [express.json({ strict: false })]],
  ['express.urlencoded()', [express.urlencoded()]],
  ['express.text()', [express.text()]],
  ['express.text() for any type', [express.text({ type: '*/*' })]],
  ['express.raw()', [express.raw()]],
  ['express.raw() for any type', [express.raw({ type: '*/*', limit: '1mb' })]],
  ['all four', [express.json(), express.urlencoded(), express.text(), express.raw()]],
]

describe.each(parsers)('a host with %s in front', (_name, before) => {
  const path = '/v1/auth/client'
  let send: Send
  let url: string

  beforeEach(async () => {
    url = await serve((app) => {
      for (const parser of before) app.use(parser)
      app.use(expressRouter(t.auth.both))
    })
    send = httpClient(url)
  })

  it('SP-63 signs in, refreshes and signs out', async () => {
    const { bearer, cookie } = await signInAt(send, path)
    const renamed = await send('PATCH', `${path}/me`, { bearer, body: { name: 'Ünïcödé 😀' } })
    expect(renamed.json()).toMatchObject({ email, name: 'Ünïcödé 😀' })
    expect((await send('GET', `${path}/session`, { cookie })).status).toBe(200)
    expect((await send('POST', `${path}/refresh-cookie`, { cookie, body: {} })).status).toBe(200)
    const out = await send('POST', `${path}/logout`, { bearer, body: { everywhere: true } })
    expect(out.status).toBe(204)
    expectProblem(await send('GET', `${path}/me`, { bearer }), 401, 'session_revoked')
  })

  it('refuses what is no JSON object of the expected form', async () => {
    for (const body of ['[]', '{}', '{"email":1,"password":"x"}']) {
      expectProblem(await send('POST', `${path}/login`, { body }), 400, 'invalid_request')
    }
    const body = { ...credentials, email: 'eve@example.org', systemRole: 'super_admin' }
    expectProblem(await send('POST', `${path}/register`, { body }), 400, 'invalid_request')
    expect(await t.auth.client.users.findByEmail('eve@example.org')).toBeNull()
  })

  it('refuses every other content type', async () => {
    const bodies = [
      ['application/x-www-form-urlencoded', new URLSearchParams(credentials).toString()],
      ['text/plain', JSON.stringify(credentials)],
      ['application/octet-stream', JSON.stringify(credentials)],
      ['application/vnd.api+json', JSON.stringify(credentials)],
    ]
    for (const [type = '', body = ''] of bodies) {
      const headers = { 'content-type': type }
      const reply = await send('POST', `${path}/login`, { headers, body })
      expectProblem(reply, 415, 'unsupported_media_type')
      expect(reply.setCookies).toEqual([])
    }
  })

  it('tells an empty body from `{}`', async () => {
    const { cookie } = await signInAt(send, path)
    expect((await send('POST', `${path}/refresh-cookie`, { cookie })).status).toBe(200)
    const reply = await send('POST', `${path}/login`)
    expectProblem(reply, 415, 'unsupported_media_type')
  })

  it('refuses one byte more than 64 KiB', async () => {
    const text = JSON.stringify(credentials)
    const over = text + ' '.repeat(64 * 1024 + 1 - text.length)
    expectProblem(await send('POST', `${path}/login`, { body: over }), 413, 'payload_too_large')
    const exact = over.slice(0, -1)
    expect((await send('POST', `${path}/login`, { body: exact })).status).toBe(200)
  })
})

describe('what stands around the routes', () => {
  it('refuses a body that somebody else has read and not handed on', async () => {
    const url = await serve((app) => app.use(swallow).use(expressRouter(t.auth.both)))
    const send = httpClient(url)
    const login = await send('POST', '/v1/auth/client/login', { body: credentials })
    expectProblem(login, 400, 'invalid_request')

    const direct = httpClient(await serve((app) => app.use(expressRouter(t.auth.both))))
    const { bearer } = await signInAt(direct, '/v1/auth/client')
    const body = { everywhere: true }
    const out = await send('POST', '/v1/auth/client/logout', { bearer, body })
    expectProblem(out, 400, 'invalid_request')
    expect((await send('POST', '/v1/auth/client/logout', { bearer })).status).toBe(204)
  })

  it('leaves the body of the host’s own routes to the host', async () => {
    const url = await serve((app) => {
      app.use(expressRouter(t.auth.both))
      app.post('/echo', express.json(), (request, response) => void response.json(request.body))
      app.get('/v1/other', (_request, response) => void response.send('mine'))
    })
    const send = httpClient(url)
    expect((await send('POST', '/echo', { body: { a: 1 } })).json()).toEqual({ a: 1 })
    expect((await send('GET', '/v1/other')).text).toBe('mine')
    await signInAt(send, '/v1/auth/operator')
  })

  it('SP-63 guards alike under any prefix', async () => {
    const url = await serve((app) => {
      const inner = express.Router().use('/deep', expressRouter(t.auth.both))
      app.use('/identity', inner)
    })
    const send = httpClient(url)
    const prefix = '/identity/deep/v1/auth/operator'
    const { bearer, cookie } = await signInAt(send, prefix)
    expect((await send('GET', `${prefix}/me`, { bearer })).status).toBe(200)
    expectProblem(await send('GET', `${prefix}/me`), 401)
    expectProblem(await send('GET', `${prefix}/nope`), 404, 'not_found')
    expectProblem(await send('PUT', `${prefix}/me`), 405, 'method_not_allowed')
    const foreign = await signInAt(send, '/identity/deep/v1/auth/client')
    const crossed = await send('GET', `${prefix}/me`, { bearer: foreign.bearer })
    expectProblem(crossed, 401, 'audience_mismatch')
    expect((await send('GET', '/identity/deep/v1/auth/session', { cookie })).status).toBe(200)
    for (const path of ['/v1/auth/operator/me', '/identity/v1/auth/operator/me']) {
      const outside = await send('GET', path, { bearer })
      expect([outside.status, outside.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ])
    }
  })

  it('R-LIB-04 serves one surface under one prefix and the other under another', async () => {
    const url = await serve((app) => {
      app.use('/staff', expressRouter(t.auth.operator))
      app.use('/shop', expressRouter(t.auth.client))
    })
    const send = httpClient(url)
    const staff = await signInAt(send, '/staff/v1/auth/operator')
    const shop = await signInAt(send, '/shop/v1/auth/client')
    for (const path of ['/staff/v1/auth/client/me', '/shop/v1/auth/operator/me']) {
      const reply = await send('GET', path, { bearer: staff.bearer })
      expect([reply.status, reply.headers.get('content-type')]).toEqual([
        404,
        'text/html; charset=utf-8',
      ])
    }
    const session = '/v1/auth/session'
    expect((await send('GET', `/staff${session}`, { cookie: staff.cookie })).status).toBe(200)
    expect((await send('GET', `/shop${session}`, { cookie: shop.cookie })).status).toBe(200)
    expectProblem(await send('GET', `/staff${session}`, { cookie: shop.cookie }), 401)
    expectProblem(await send('GET', `/shop${session}`, { cookie: staff.cookie }), 401)
  })

  it('serves one instance at two places', async () => {
    const first = httpClient(await serve((app) => app.use(expressRouter(t.auth.operator))))
    const second = httpClient(await serve((app) => app.use('/b', expressRouter(t.auth.operator))))
    const { bearer } = await signInAt(first, '/v1/auth/operator')
    expect((await second('GET', '/b/v1/auth/operator/me', { bearer })).status).toBe(200)
    expect((await first('POST', '/v1/auth/operator/logout', { bearer })).status).toBe(204)
    const after = await second('GET', '/b/v1/auth/operator/me', { bearer })
    expectProblem(after, 401, 'session_revoked')
  })

  it('takes a fetch-style prefix off, and is silent about any other path', async () => {
    const handle = fetchHandler(t.auth.both)
    const ask = (path: string) => new Request(`https://admin.example.com${path}`)
    const context = { prefix: '/identity', remoteAddress: '192.0.2.1' }
    const jwks = await handle(ask('/identity/v1/auth/operator/jwks?x=1'), context)
    expect(jwks?.status).toBe(200)
    for (const path of [
      '/v1/auth/operator/jwks',
      '/identitx/v1/auth/operator/jwks',
      '/identity',
      '/identityv1/auth/operator/jwks',
    ]) {
      expect(await handle(ask(path), context), path).toBeNull()
    }
    expect(await handle(ask('/identity/v1/auth/operator/jwks'))).toBeNull()
    expect((await handle(ask('/v1/auth/operator/nope')))?.status).toBe(404)
  })

  it('SP-63 does not resolve dots across the surfaces', async () => {
    const raw = rawClient(await serve((app) => app.use(expressRouter(t.auth.both))))
    for (const path of ['/v1/auth/operator/../client/jwks', '/v1/auth/client/%2e%2e/client/jwks']) {
      const reply = await raw('GET', path)
      expectProblem(reply, 404, 'not_found')
      expectHouseHeaders(reply)
    }
  })
})
