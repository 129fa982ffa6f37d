import { describe, expect, it } from 'vitest'
import type { TrustProxy } from '../../../src/http/incoming-request.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachFramework } from '../../support/hosts/matrix.js'
import { openHost } from '../../support/hosts/open-host.js'
import { rawClient } from '../../support/hosts/raw-client.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, person } from '../../support/people/people.js'

const spoofed = {
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'http',
  'x-forwarded-port': '8080',
  'x-forwarded-prefix': '/evil',
  'x-original-url': '/v1/auth/operator/me',
  'x-rewrite-url': '/v1/auth/operator/me',
  'x-http-method-override': 'DELETE',
  'x-real-ip': '198.51.100.9',
  'x-client-ip': '198.51.100.9',
  'cf-connecting-ip': '198.51.100.9',
  'true-client-ip': '198.51.100.9',
  x_forwarded_for: '198.51.100.9',
  forwarded: 'for=198.51.100.9;host=evil.example;proto=http',
  'x-user-id': 'somebody',
}

eachFramework.describe('the source address', (kind) => {
  const cases: readonly (readonly [string, TrustProxy, string | undefined, string])[] = [
    ['no proxy is trusted', false, '198.51.100.1', '127.0.0.1'],
    ['the peer is no trusted proxy', ['10.0.0.0/8'], '198.51.100.1', '127.0.0.1'],
    ['one proxy is trusted', 1, '203.0.113.7, 198.51.100.1', '198.51.100.1'],
    ['the peer is a trusted proxy', ['127.0.0.0/8'], '198.51.100.1', '198.51.100.1'],
    ['the trusted proxy says nothing', 1, undefined, '127.0.0.1'],
  ]

  it.each(cases)('when %s', async (_what, trustProxy, forwardedFor, expected) => {
    const host = await openHost({ trustProxy }, kind)
    const raw = rawClient(host.url)
    const { email, password, id } = await person(host, 'client')
    const headers = {
      ...spoofed,
      'content-type': 'application/json',
      'user-agent': 'a test',
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    }
    const body = JSON.stringify({ email, password })
    expect((await raw('POST', '/v1/auth/client/login', { headers, body })).status).toBe(200)
    const login = host.events.find(({ type }) => type === 'login.succeeded')
    expect(login).toMatchObject({ userId: id, ip: expected, userAgent: 'a test' })
  })
})

eachFramework.describe('a proxy that nobody told of', (kind) => {
  const told = ({ logger }: ContractHost) =>
    logger.lines.filter(
      ({ level, message }) => level === 'warn' && message.includes('trustProxy is false'),
    )

  it.each([
    ['x-forwarded-for', '198.51.100.1'],
    ['forwarded', 'for=198.51.100.1'],
  ])('is told of once, with what to do, where a request brings %s', async (name, value) => {
    const host = await openHost({ trustProxy: false }, kind)
    const raw = rawClient(host.url)
    const ask = (headers: Record<string, string>) => raw('GET', '/v1/auth/client/me', { headers })
    const plain = await ask({})
    expect(told(host)).toEqual([])
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await ask({ [name]: value })).status).toBe(plain.status)
    }
    await host.auth.client.sessionOf({ method: 'GET', headers: { [name]: value } }, { use: 'page' })
    expect(told(host)).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/share the limits of one; set trustProxy to/),
      }),
    ])
  })

  it('says nothing where the proxies are known', async () => {
    for (const trustProxy of [1, 0, ['10.0.0.0/8']]) {
      const host = await openHost({ trustProxy }, kind)
      const headers = { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' }
      await rawClient(host.url)('GET', '/v1/auth/client/me', { headers })
      expect(told(host)).toEqual([])
    }
  })
})

describe('what a stranger writes into headers', () => {
  const registerPerIp = { limit: 1, windowMs: 60_000 }
  const { operator, client } = withoutLimits.surfaces
  const surfaces = { operator, client: { ...client, rateLimits: { registerPerIp } } }

  it('buys no further attempts', async () => {
    const host = await memoryHost.start({ surfaces })
    const statuses: number[] = []
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const headers = { ...spoofed, 'x-forwarded-for': `198.51.100.${attempt}` }
      const body = { email: `${attempt}@example.org`, password: goodPassword }
      const reply = await host.send('POST', '/v1/auth/client/register', { headers, body })
      statuses.push(reply.status)
    }
    expect(statuses).toEqual([201, 429, 429, 429])
    await host.close()
  })

  it('is counted per caller where a proxy vouches, IPv6 by the /64', async () => {
    const host = await memoryHost.start({ surfaces, trustProxy: 1 })
    let people = 0
    const register = async (from: string): Promise<Reply> => {
      people += 1
      const headers = { 'x-forwarded-for': from }
      const body = { email: `${people}@example.org`, password: goodPassword }
      return host.send('POST', '/v1/auth/client/register', { headers, body })
    }
    expect((await register('198.51.100.1')).status).toBe(201)
    expectProblem(await register('198.51.100.1'), 429, 'rate_limited')
    expectProblem(await register('::ffff:198.51.100.1'), 429, 'rate_limited')
    expectProblem(await register('203.0.113.7, 198.51.100.1'), 429, 'rate_limited')
    expect((await register('198.51.100.2')).status).toBe(201)
    expect((await register('2001:db8:1:2::1')).status).toBe(201)
    expectProblem(await register('2001:DB8:1:2:ffff::9'), 429, 'rate_limited')
    expect((await register('2001:db8:1:3::1')).status).toBe(201)
    await host.close()
  })

  it('ends up in no mail', async () => {
    // Alone, a surface answers for every host.
    const host = await openHost({ mount: 'client' })
    const raw = rawClient(host.url)
    const headers = { ...spoofed, host: 'evil.example', 'content-type': 'application/json' }
    const { email } = await person(host, 'client')
    const post = (path: string, body: object) =>
      raw('POST', `/v1/auth/client${path}`, { headers, body: JSON.stringify(body) })
    await post('/register', { email: 'new@example.org', password: goodPassword })
    await post('/register', { email, password: goodPassword })
    await post('/password/forgot', { email })
    await host.auth.close()
    const urls = host.mailer.sent.flatMap(({ data }) => ('url' in data ? [data.url] : []))
    expect(urls).toHaveLength(3)
    for (const url of urls) expect(new URL(url).origin).toBe('https://app.example.com')
    expect(JSON.stringify(host.mailer.sent)).not.toContain('evil')
  })

  it('chooses neither route nor method', async () => {
    const host = await openHost()
    const nope = await host.send('GET', '/v1/auth/client/nope', { headers: spoofed })
    expectProblem(nope, 404, 'not_found')
    const login = await host.send('GET', '/v1/auth/client/login', { headers: spoofed })
    expectProblem(login, 405, 'method_not_allowed')
  })
})
