import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpClient, refreshCookieOf, type Send, textOf } from '../support/http-client.js'
import { expressHost, type RunningHost, type TestAuth, testAuth } from '../support/test-auth.js'

describe.each(['operator', 'client'] as const)('the main job on the %s surface', (surface) => {
  let host: RunningHost
  let send: Send
  let t: TestAuth
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  beforeAll(async () => {
    t = await testAuth()
    host = await expressHost(t.auth.both)
    send = httpClient(host.url)
  })
  afterAll(() => host.close())

  it('registers, verifies, signs in, refreshes and signs out', async () => {
    const email = 'ada@example.org'
    const password = 'correct horse battery staple'
    const registered = await send('POST', at('/register'), {
      body: { email, password, name: 'Ada' },
    })
    expect(registered.text).toBe('{"status":"verificationRequired"}')
    await t.auth.close()
    const early = await send('POST', at('/login'), { body: { email, password } })
    expect([early.status, early.code]).toEqual([403, 'email_not_verified'])
    const { token } = t.mailer.last('verifyEmail', email).data
    const verified = await send('POST', at('/email/verify'), { body: { token } })
    expect(verified.status).toBe(200)
    const login = await send('POST', at('/login'), { body: { email, password } })
    expect(login.status).toBe(200)
    const bearer = textOf(login.json(), 'accessToken')
    const me = await send('GET', at('/me'), { bearer })
    expect(me.json()).toMatchObject({ email, name: 'Ada' })
    const refreshed = await send('POST', at('/refresh-cookie'), {
      cookie: refreshCookieOf(login, surface),
    })
    expect([refreshed.status, refreshed.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
    const session = await send('GET', '/v1/auth/session', {
      cookie: refreshCookieOf(refreshed, surface),
    })
    expect([session.status, session.setCookies]).toEqual([200, []])
    const out = await send('POST', at('/logout'), { bearer })
    expect(out.status).toBe(204)
    const after = await send('GET', at('/me'), { bearer })
    expect([after.status, after.code]).toEqual([401, 'session_revoked'])
    console.log(t.logger.lines)
  })
})
