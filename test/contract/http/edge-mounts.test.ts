import { createServer } from 'node:http'
import express, { type Express } from 'express'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { expressRouter } from '../../../adapters/express.js'
import { fetchHandler } from '../../../adapters/fetch.js'
import type { Mountable } from '../../../src/http/http-message.js'
import { expectHouseHeaders, expectProblem } from '../../support/hosts/expectations.js'
import {
  httpClient,
  type Reply,
  refreshCookieOf,
  type Send,
  textOf,
} from '../../support/hosts/http-client.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { listen, type RunningHost } from '../../support/hosts/running-host.js'
import { type TestAuth, testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import { mountedHosts } from './mounted-hosts.js'

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
  const surface = path.endsWith('operator') ? 'operator' : 'client'
  const cookie = refreshCookieOf(reply, surface)
  return { bearer: textOf(reply.json(), 'accessToken'), cookie }
}

describe.each(mountedHosts)('on $name', ({ serve, page }) => {
  async function at(mounts: Readonly<Record<string, Mountable>>): Promise<Send> {
    const host = await serve(mounts)
    running.push(host)
    return httpClient(host.url)
  }

  const expectHostPage = (reply: Reply): void => {
    expect([reply.status, reply.text]).toEqual([404, page])
  }

  it('leaves its own routes to the host, bodies and all', async () => {
    const send = await at({ '': t.auth.both })
    expect((await send('POST', '/echo', { body: { a: 1 } })).text).toBe('{"a":1}')
    expect((await send('GET', '/v1/other')).text).toBe('mine')
    for (const path of ['/', '/v1', '/v1/authx', '/v1/admi']) {
      expectHostPage(await send('GET', path))
    }
    await signInAt(send, '/v1/auth/operator')
  })

  it('guards alike under any prefix', async () => {
    const send = await at({ '/identity/deep': t.auth.both })
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
    const outside = [
      ...['/v1/auth/operator/me', '/identity/v1/auth/operator/me', '/identity', '/identity/deep'],
      ...['/identity/deepv1/auth/operator/me', '/identitx/deep/v1/auth/operator/me'],
    ]
    for (const path of outside) expectHostPage(await send('GET', path, { bearer }))
  })

  it('serves one surface under one prefix and the other under another', async () => {
    const send = await at({ '/staff': t.auth.operator, '/shop': t.auth.client })
    const staff = await signInAt(send, '/staff/v1/auth/operator')
    const shop = await signInAt(send, '/shop/v1/auth/client')
    for (const path of ['/staff/v1/auth/client/me', '/shop/v1/auth/operator/me']) {
      expectHostPage(await send('GET', path, { bearer: staff.bearer }))
    }
    const session = '/v1/auth/session'
    expect((await send('GET', `/staff${session}`, { cookie: staff.cookie })).status).toBe(200)
    expect((await send('GET', `/shop${session}`, { cookie: shop.cookie })).status).toBe(200)
    expectProblem(await send('GET', `/staff${session}`, { cookie: shop.cookie }), 401)
    expectProblem(await send('GET', `/shop${session}`, { cookie: staff.cookie }), 401)
  })

  it('names several cookies and the headers of the host beside its own', async () => {
    const send = await at({ '': t.auth.both })
    const login = await send('POST', '/v1/auth/client/login', { body: credentials })
    expect(login.setCookies.map((cookie) => cookie.split('=')[0])).toEqual([
      'host',
      '__Host-cl_refresh',
      '__Host-cl_recognition',
      '__Host-cl_signed_in',
    ])
    expect(login.headers.get('x-host')).toBe('yes')
    expect(login.headers.get('vary')).toBe('Accept, Origin')
  })
})

describe('what stands around the routes', () => {
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

  it('does not resolve dots across the surfaces', async () => {
    const raw = rawClient(await serve((app) => app.use(expressRouter(t.auth.both))))
    for (const path of ['/v1/auth/operator/../client/jwks', '/v1/auth/client/%2e%2e/client/jwks']) {
      const reply = await raw('GET', path)
      expectProblem(reply, 404, 'not_found')
      expectHouseHeaders(reply)
    }
  })
})
