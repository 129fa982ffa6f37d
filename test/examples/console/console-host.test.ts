import { describe, expect, it } from 'vitest'
import type { OwnSessionsReply } from '../../../examples/console/host/replies.js'
import { httpClient, textOf } from '../../support/hosts/http-client.js'
import { consoleRigs, password } from './console-rig.js'
import { getNamed } from './named-host.js'

const start = consoleRigs()

describe('the host of the console', () => {
  it('forbids inline scripts, frames and referrers on every page and script', async () => {
    const { host } = await start()
    for (const path of [
      '/',
      '/security',
      '/client.js',
      '/console.css',
      '/icon.svg',
      '/demo/mails',
    ]) {
      const { status, headers } = await getNamed(host.clientUrl, path)
      expect(status).toBe(200)
      const policy = String(headers['content-security-policy'])
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
      expect(policy).toContain("base-uri 'none'; frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|\*/)
      expect(headers).toMatchObject({
        'cross-origin-opener-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      })
    }
  })

  it('gives each name its own surface, and other names nothing', async () => {
    const { host } = await start()
    expect((await getNamed(host.clientUrl, '/')).text).toContain('src="/client.js"')
    expect((await getNamed(host.operatorUrl, '/')).text).toContain('src="/operator.js"')
    expect((await getNamed(host.clientUrl, '/v1/auth/operator/options')).status).toBe(404)
    expect((await getNamed(host.operatorUrl, '/v1/auth/operator/options')).status).toBe(200)
    // A site elsewhere that points its own name at this machine would read the mailed links.
    for (const name of ['evil.example', `127.0.0.1:${new URL(host.clientUrl).port}`]) {
      expect((await getNamed(host.clientUrl, '/demo/mails', name)).status).toBe(404)
    }
  })

  it('lists the own sessions of an end user to them alone', async () => {
    const { host, account } = await start()
    const send = httpClient(host.clientUrl)
    const bearerOf = async (email: string) => {
      const reply = await send('POST', '/v1/auth/client/login', { body: { email, password } })
      return textOf(reply.json(), 'accessToken')
    }
    await account('client', 'grace@example.org')
    const id = await account('client', 'ada@example.org')
    await bearerOf('grace@example.org')
    await bearerOf('ada@example.org')
    const bearer = await bearerOf('ada@example.org')
    const reply = await send('GET', '/api/sessions', { bearer })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    const { sessions } = reply.json() as unknown as OwnSessionsReply
    const own = await host.auth.client.sessions.list(id)
    expect(sessions.map((one) => one.id).sort()).toEqual(own.map((one) => one.id).sort())
    expect(sessions.map(({ current }) => current).sort()).toEqual([false, true])
    for (const [method, path] of [
      ['GET', '/api/sessions'],
      ['DELETE', `/api/sessions/${own[0]?.id}`],
      ['POST', '/api/identities'],
      ['DELETE', '/api/identities'],
    ] as const) {
      expect((await send(method, path)).status).toBe(401)
    }
    const foreign = await bearerOf('grace@example.org')
    const ended = await send('DELETE', `/api/sessions/${own[0]?.id}`, { bearer: foreign })
    expect(ended.code).toBe('session_not_found')
    // The routes of operators are not there.
    expect((await send('GET', '/api/users/client', { bearer })).status).toBe(404)
  })

  it('shows mails as text, whatever stands in an address', async () => {
    const { host } = await start()
    const to = "o'neil&sons@example.org"
    await host.auth.client.users.create({ email: to, emailVerified: true })
    await fetch(`${host.clientUrl}/v1/auth/client/password/forgot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: to }),
    })
    await expect
      .poll(async () => (await getNamed(host.clientUrl, '/demo/mails')).text)
      .toContain('/reset-password#token=')
    const { text, headers } = await getNamed(host.clientUrl, '/demo/mails')
    expect(text).toContain('o&#39;neil&amp;sons@example.org')
    expect(headers['cache-control']).toBe('no-store')
  })
})
