import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { frameworks } from '../../support/hosts/frameworks.js'
import { httpClient, type Send, textOf } from '../../support/hosts/http-client.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import type { RunningHost } from '../../support/hosts/running-host.js'
import { type TestAuth, testAuth } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword } from '../../support/people/people.js'
import { parsingHosts, swallowingHosts } from './parsing-hosts.js'

const email = 'ada@example.org'
const credentials = { email, password: goodPassword }

/** The credentials as a form would send them. */
const form = [
  ...Object.entries(credentials).flatMap(([name, value]) => [
    '--x',
    `Content-Disposition: form-data; name="${name}"`,
    '',
    value,
  ]),
  '--x--',
  '',
].join('\r\n')

async function signIn(send: Send) {
  const reply = await send('POST', '/v1/auth/client/login', { body: credentials })
  expect(reply.status, reply.text).toBe(200)
  const [cookie = ''] = reply.setCookies[0]?.split(';') ?? []
  return { bearer: textOf(reply.json(), 'accessToken'), cookie }
}

describe.each(parsingHosts)('a host with $name', ({ serve }) => {
  const path = '/v1/auth/client'
  let t: TestAuth
  let running: RunningHost
  let send: Send

  beforeAll(async () => {
    t = await testAuth(withoutLimits)
    await t.auth.client.users.create({ ...credentials, emailVerified: true })
    running = await serve(t.auth.both)
    send = httpClient(running.url)
  })
  afterAll(() => running.close())

  it('signs in, refreshes and signs out', async () => {
    const { bearer, cookie } = await signIn(send)
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
      ['multipart/form-data; boundary=x', form],
    ]
    for (const [type = '', body = ''] of bodies) {
      const headers = { 'content-type': type }
      const reply = await send('POST', `${path}/login`, { headers, body })
      expectProblem(reply, 415, 'unsupported_media_type')
      expect(reply.setCookies).toEqual([])
    }
  })

  it('takes a form where a provider sends one', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const callback = `${path}/oauth/apple/callback`
    const form = await send('POST', callback, { headers, body: 'state=unknown&code=1' })
    expectProblem(form, 400, 'invalid_oauth_state')
    const twice = await send('POST', callback, { headers, body: 'state=a&state=b&code=1' })
    expectProblem(twice, 400, 'invalid_request')
    const json = await send('POST', callback, { body: { state: 'unknown', code: '1' } })
    expectProblem(json, 415, 'unsupported_media_type')
  })

  it('tells an empty body from `{}`', async () => {
    const { cookie } = await signIn(send)
    expect((await send('POST', `${path}/refresh-cookie`, { cookie })).status).toBe(200)
    const reply = await send('POST', `${path}/login`)
    expectProblem(reply, 415, 'unsupported_media_type')
  })

  it('refuses more than 64 KiB that came in pieces or compressed', async () => {
    const raw = rawClient(running.url)
    const large = JSON.stringify({ ...credentials, password: 'x'.repeat(66_000) })
    const headers = { 'content-type': 'application/json' }
    const pieces = [Buffer.from(large.slice(0, 100)), Buffer.from(large.slice(100))]
    const chunked = await raw('POST', `${path}/login`, { headers, body: pieces })
    expectProblem(chunked, 413, 'payload_too_large')
    const zipped = await raw('POST', `${path}/login`, {
      headers: { ...headers, 'content-encoding': 'gzip' },
      body: gzipSync(large),
    })
    // Where no parser unpacks it, it is no JSON.
    expect([400, 413, 415]).toContain(zipped.status)
    const body = Buffer.from(JSON.stringify({ ...credentials, password: 'a wrong password' }))
    expectProblem(
      await raw('POST', `${path}/login`, { headers, body: [body] }),
      401,
      'invalid_credentials',
    )
  })

  it('refuses one byte more than 64 KiB', async () => {
    const text = JSON.stringify(credentials)
    const over = text + ' '.repeat(64 * 1024 + 1 - text.length)
    expectProblem(await send('POST', `${path}/login`, { body: over }), 413, 'payload_too_large')
    const exact = over.slice(0, -1)
    expect((await send('POST', `${path}/login`, { body: exact })).status).toBe(200)
  })
})

describe.each(swallowingHosts)('a host with $name', ({ serve }) => {
  it('refuses a body that somebody else has read and not handed on', async () => {
    const t = await testAuth(withoutLimits)
    await t.auth.client.users.create({ ...credentials, emailVerified: true })
    const running = await serve(t.auth.both)
    const send = httpClient(running.url)
    const login = await send('POST', '/v1/auth/client/login', { body: credentials })
    expectProblem(login, 400, 'invalid_request')

    const direct = await frameworks.express(t.auth.both)
    const { bearer } = await signIn(httpClient(direct.url))
    const path = '/v1/auth/client/logout'
    const out = await send('POST', path, { bearer, body: { everywhere: true } })
    expectProblem(out, 400, 'invalid_request')
    expect((await send('POST', path, { bearer })).status).toBe(204)
    await running.close()
    await direct.close()
  })
})
