import { describe, expect, it } from 'vitest'
import type { SurfaceOptions } from '../../../src/options.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, surfaces } from '../../support/hosts/open-host.js'
import { goodPassword, person, signIn } from '../../support/people/people.js'

interface Cookie {
  readonly name: string
  readonly value: string
  /** Names in lower case; a flag has the value `true`. */
  readonly attributes: Readonly<Record<string, string | true>>
}

function cookiesOf(reply: Reply): readonly Cookie[] {
  return reply.setCookies.map((line) => {
    const [pair = '', ...rest] = line.split('; ')
    const cut = pair.indexOf('=')
    const attributes = rest.map((attribute) => {
      const [name = '', value] = attribute.split('=')
      return [name.toLowerCase(), value ?? true] as const
    })
    return {
      name: pair.slice(0, cut),
      value: pair.slice(cut + 1),
      attributes: Object.fromEntries(attributes),
    }
  })
}

const week = 7 * 24 * 3600
const short = { operator: 'op_refresh', client: 'cl_refresh' } as const

const cases: readonly {
  readonly what: string
  readonly surfaces: Readonly<Record<(typeof surfaces)[number], SurfaceOptions>>
  readonly prefix: string
  readonly attributes: Readonly<Record<(typeof surfaces)[number], object>>
}[] = [
  {
    what: 'host-only cookies over https',
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com/shop/' },
    },
    prefix: '__Host-',
    attributes: { operator: { secure: true, path: '/' }, client: { secure: true, path: '/' } },
  },
  {
    what: 'names that begin with the product',
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com', cookieNamePrefix: 'shop_' },
      client: { baseUrl: 'https://app.example.com', cookieNamePrefix: 'shop_' },
    },
    prefix: '__Host-shop_',
    attributes: { operator: { secure: true, path: '/' }, client: { secure: true, path: '/' } },
  },
  {
    what: 'a domain of its own each',
    surfaces: {
      operator: { baseUrl: 'https://a.admin.example.com', cookieDomain: 'admin.example.com' },
      client: { baseUrl: 'https://app.example.com', cookieDomain: 'app.example.com' },
    },
    prefix: '__Secure-',
    attributes: {
      operator: { secure: true, path: '/', domain: 'admin.example.com' },
      client: { secure: true, path: '/', domain: 'app.example.com' },
    },
  },
  {
    what: 'a path of its own each',
    surfaces: {
      operator: {
        baseUrl: 'https://admin.example.com',
        cookieDomain: 'example.com',
        cookiePath: '/v1/auth',
      },
      client: {
        baseUrl: 'https://app.example.com',
        cookieDomain: 'example.com',
        cookiePath: '/identity/v1/auth',
      },
    },
    prefix: '__Secure-',
    attributes: {
      operator: { secure: true, path: '/v1/auth', domain: 'example.com' },
      client: { secure: true, path: '/identity/v1/auth', domain: 'example.com' },
    },
  },
  {
    what: 'a development host',
    surfaces: {
      operator: { baseUrl: 'http://localhost:3000' },
      client: { baseUrl: 'http://app.localhost:3001' },
    },
    prefix: '',
    attributes: { operator: { path: '/' }, client: { path: '/' } },
  },
]

it('each surface sets its cookie for its own domain, and for its host alone without one', async () => {
  const domains = { operator: 'admin.example.com', client: 'app.example.com' } as const
  for (const own of [{ operator: true, client: true }, { operator: true, client: false }, {}]) {
    const optionsOf = (surface: (typeof surfaces)[number]): SurfaceOptions => ({
      baseUrl: `https://x.${domains[surface]}`,
      ...((own as Partial<Record<string, boolean>>)[surface]
        ? { cookieDomain: domains[surface] }
        : {}),
    })
    const host = await openHost({
      surfaces: { operator: optionsOf('operator'), client: optionsOf('client') },
    })
    for (const surface of surfaces) {
      const { email, password } = await person(host, surface)
      const body = { email, password }
      const reply = await host.send('POST', `/v1/auth/${surface}/login`, { body })
      const [cookie] = cookiesOf(reply)
      const { cookieDomain } = optionsOf(surface)
      expect(cookie?.attributes['domain']).toBe(cookieDomain)
      // Browsers drop a `__Host-` cookie that has a domain (RFC 6265bis §4.1.3.2).
      const prefix = cookieDomain === undefined ? '__Host-' : '__Secure-'
      expect(cookie?.name).toBe(prefix + short[surface])
    }
  }
})

const verified = { emailVerificationRequired: false } satisfies HostOptions['settings']

describe.each(cases)('the refresh cookie with $what', (expected) => {
  eachSurface.it('is Secure and has its prefix', async (surface) => {
    const host = await openHost({ surfaces: expected.surfaces, settings: verified })
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const name = expected.prefix + short[surface]
    const shape = { httponly: true, samesite: 'Lax', ...expected.attributes[surface] }
    // Scripts may read it, below whatever path a page is.
    const { httponly, ...readable } = shape
    const markerOf = (value: string, maxAge: number) => ({
      name: name.replace('refresh', 'signed_in'),
      value,
      attributes: { ...readable, path: '/', 'max-age': String(maxAge) },
    })
    const expectSet = (reply: Reply, others: readonly Cookie[] = []): string => {
      const [cookie, ...more] = cookiesOf(reply)
      expect(more).toEqual([...others, markerOf('1', week)])
      expect(cookie?.name).toBe(name)
      expect(cookie?.attributes).toEqual({ ...shape, 'max-age': String(week) })
      expect(cookie?.value).toMatch(/^[\w.-]+$/)
      expect(reply.text).not.toContain(cookie?.value)
      return `${name}=${cookie?.value}`
    }
    // What the browser is known by is this host's alone, whatever domain and path sessions have.
    const isSecure = expected.prefix !== ''
    const recognition = {
      name: name.replace(/^__Secure-/, '__Host-').replace('refresh', 'recognition'),
      value: expect.stringMatching(/^[\w-]{22}$/),
      attributes: {
        ...({ httponly: true, samesite: 'Lax', path: '/' } as const),
        'max-age': String(90 * 24 * 3600),
        ...(isSecure ? ({ secure: true } as const) : {}),
      },
    }
    const expectCleared = (reply: Reply): void => {
      const cleared = { name, value: '', attributes: { ...shape, 'max-age': '0' } }
      expect(cookiesOf(reply)).toEqual([cleared, markerOf('', 0)])
    }

    // The request decides nothing about the cookie (SP-61).
    const headers = {
      'x-forwarded-proto': surface === 'operator' ? 'http' : 'https',
      'x-forwarded-host': 'evil.example',
      forwarded: 'proto=http;host=evil.example',
    }
    const body = { email: 'ada@example.org', password: goodPassword }
    const registered = await host.send('POST', at('/register'), { body, headers })
    expectSet(registered, [recognition])
    const login = await host.send('POST', at('/login'), { body, headers })
    const cookie = expectSet(login, [recognition])
    const rotated = expectSet(await host.send('POST', at('/refresh-cookie'), { cookie, headers }))
    const session = await host.send('GET', at('/session'), { cookie: rotated })
    expect([session.status, session.setCookies]).toEqual([200, []])
    const out = await host.send('POST', at('/logout'), { cookie: rotated, headers })
    expect(out.status).toBe(204)
    expectCleared(out)
    const dead = await host.send('POST', at('/refresh-cookie'), { cookie: rotated, headers })
    expectProblem(dead, 401, 'session_revoked')
    expectCleared(dead)
    const deadSession = await host.send('GET', at('/session'), { cookie: rotated })
    expectCleared(deadSession)
    expectProblem(await host.send('GET', at('/session'), { cookie: cookie.toUpperCase() }), 401)
  })
})

describe.each([
  { setting: 'strict', https: 'Strict', http: 'Strict' },
  { setting: 'lax', https: 'Lax', http: 'Lax' },
  // Browsers drop None without Secure.
  { setting: 'none', https: 'None', http: 'Lax' },
] as const)('cookieSameSite $setting', ({ setting, https, http }) => {
  it.each([
    ['https://app.example.com', https],
    ['http://localhost:3000', http],
  ])('on %s is %s', async (baseUrl, expected) => {
    const host = await openHost({
      surfaces: { operator: { baseUrl }, client: { baseUrl } },
      settings: { cookieSameSite: setting },
    })
    const who = await person(host, 'client')
    const { cookie } = await signIn(host, 'client', who)
    const rotated = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie })
    const out = await host.send('POST', '/v1/auth/client/logout', { cookie })
    for (const reply of [rotated, out]) {
      expect(cookiesOf(reply).map(({ attributes }) => attributes['samesite'])).toEqual([
        expected,
        expected,
      ])
    }
  })
})

it('lives exactly as long as the token inside, whatever the idle window', async () => {
  const host = await openHost({ env: { JWT_REFRESH_TOKEN_EXPIRY: '1h' } })
  const reply = await loginReply(host)
  const [cookie] = cookiesOf(reply)
  const claims = JSON.parse(Buffer.from(cookie?.value.split('.')[1] ?? '', 'base64url').toString())
  expect([cookie?.attributes['max-age'], claims.exp - claims.iat]).toEqual(['3600', 3600])
})

it('stays within 4,096 bytes for the busiest user there can be, who signs in and out', async () => {
  const host = await openHost({ issuer: `https://${'i'.repeat(247)}` })
  const { users } = host.auth.client
  const email = `${'a'.repeat(60)}@${'b'.repeat(60)}.example.org`
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ tenantId: `${n}`.padEnd(64, 'x') }))
  const user = { email, name: '名'.repeat(200), password: goodPassword, emailVerified: true }
  const tooMany = users.create({ ...user, memberships: many(52) })
  await expect(tooMany).rejects.toMatchObject({ code: 'invalid_request' })
  await users.create({ ...user, memberships: many(51) })
  const body = { email, password: goodPassword }
  const reply = await host.send('POST', '/v1/auth/client/login', { body })
  expect(reply.status, reply.text).toBe(200)
  const [cookie] = cookiesOf(reply)
  expect(`${cookie?.name}=${cookie?.value}`.length).toBeLessThan(4096)
  const bearer = String(reply.json()['accessToken'])
  expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
})

it('the mobile routes neither set cookies nor read them', async () => {
  const host = await openHost()
  const who = await person(host, 'client')
  const web = await signIn(host, 'client', who)
  const body = { email: who.email, password: who.password }
  const login = await host.send('POST', '/v1/auth/client/mobile/login', { body })
  const { refreshToken } = login.json()
  const { cookie } = web
  const refreshed = await host.send('POST', '/v1/auth/client/refresh', {
    body: { refreshToken },
    cookie,
  })
  expect([login.status, refreshed.status]).toEqual([200, 200])
  expect([login.setCookies, refreshed.setCookies]).toEqual([[], []])
  const refused = await host.send('POST', '/v1/auth/client/refresh', { body: {}, cookie })
  expectProblem(refused, 400, 'invalid_request')
  const dead = await host.send('POST', '/v1/auth/client/refresh', {
    body: { refreshToken: 'x' },
    cookie,
  })
  expectProblem(dead, 401, 'refresh_token_invalid')
  expect(dead.setCookies).toEqual([])
})

async function loginReply(host: ContractHost): Promise<Reply> {
  const { email, password } = await person(host, 'client')
  return host.send('POST', '/v1/auth/client/login', { body: { email, password } })
}
