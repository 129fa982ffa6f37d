import { expect, it } from 'vitest'
import type { AuthOptions } from '../../../src/options.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { mailedToken, openHostAtOneAddress, outcomeOf } from '../../support/hosts/open-host.js'
import { rangeService } from '../../support/outside/range-service.js'
import { type Enrolled, enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import { otherPassword, person, signedInPerson, signIn } from '../../support/people/people.js'

const limited = '429 rate_limited'

/** The network address of a school, an office or a carrier: many people share it. */
const shared = { 'x-forwarded-for': '203.0.113.9' }

async function times<T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let index = 0; index < count; index += 1) results.push(await work(index))
  return results
}

/** A host whose surfaces both have these limits. */
const openHostWith = (rateLimits: NonNullable<AuthOptions['surfaces']['client']['rateLimits']>) =>
  openHostAtOneAddress({
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com', rateLimits },
      client: { baseUrl: 'https://app.example.com', rateLimits },
    },
  })

/** Every request of it comes from the shared address. */
function behind(host: ContractHost): ContractHost {
  return {
    ...host,
    send: (method, path, given = {}) =>
      host.send(method, path, { ...given, headers: { ...given.headers, ...shared } }),
  }
}

const me = (host: ContractHost, surface: Surface, bearer: string) =>
  host.send('GET', `/v1/auth/${surface}/me`, { bearer })

eachSurface.it(
  'a stolen access token that uses up its requests keeps the owner in',
  async (surface) => {
    const host = await openHostAtOneAddress()
    const stolen = await signedInPerson(host, surface)
    const elsewhere = await signIn(host, surface, stolen)
    const outcomes = (await times(121, () => me(host, surface, stolen.bearer))).map(outcomeOf)
    expect(outcomes.slice(0, 120)).toEqual(Array<string>(120).fill('200'))
    expect(outcomes[120]).toBe(limited)

    // Another session of the same account has requests of its own.
    expect(outcomeOf(await me(host, surface, elsewhere.bearer))).toBe('200')
    if (surface === 'operator') {
      const list = await host.send('GET', '/v1/auth/operator/sessions', {
        bearer: elsewhere.bearer,
      })
      const items = list.json()['items'] as { id: string; current: boolean }[]
      const { id = '' } = items.find(({ current }) => current) ?? {}
      // By the very session whose requests are used up.
      const ended = await host.send('DELETE', `/v1/auth/operator/sessions/${id}`, {
        bearer: stolen.bearer,
      })
      expect(outcomeOf(ended)).toBe('204')
    }
    const logout = await host.send('POST', `/v1/auth/${surface}/logout`, {
      bearer: stolen.bearer,
      body: { everywhere: true },
    })
    expect(outcomeOf(logout)).toBe('204')
  },
)

it('all sessions of one account together have five times the requests of one', async () => {
  const selfPerSession = { limit: 3, windowMs: 60_000 }
  const host = await openHostAtOneAddress({
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com' },
      client: { baseUrl: 'https://app.example.com', rateLimits: { selfPerSession } },
    },
  })
  const who = await person(host, 'client')
  const bearers = (await times(6, () => signIn(host, 'client', who))).map(({ bearer }) => bearer)
  const outcomes = await times(6, async (index) => {
    const of = await times(4, () => me(host, 'client', bearers[index] ?? ''))
    return of.map(outcomeOf)
  })
  const full = ['200', '200', '200', limited]
  expect(outcomes).toEqual([full, full, full, full, full, Array<string>(4).fill(limited)])
  // What a session was refused for itself did not count against the others.
  const neighbour = await signedInPerson(host, 'client')
  expect(outcomeOf(await me(host, 'client', neighbour.bearer))).toBe('200')
})

it('all sessions of one administrator together have five times the requests of one', async () => {
  const adminPerSession = { limit: 2, windowMs: 60_000 }
  const host = await openHostAtOneAddress({
    authorizer: { check: async () => true },
    surfaces: {
      operator: { baseUrl: 'https://admin.example.com', rateLimits: { adminPerSession } },
      client: { baseUrl: 'https://app.example.com' },
    },
  })
  const who = await person(host, 'operator')
  const outcomes = await times(6, async () => {
    const { bearer } = await signIn(host, 'operator', who)
    const of = await times(3, () => host.send('GET', '/v1/admin/modules', { bearer }))
    return of.map(outcomeOf)
  })
  const full = ['200', '200', limited]
  expect(outcomes).toEqual([full, full, full, full, full, Array<string>(3).fill(limited)])
})

eachSurface.it(
  'a logout with a token that verifies has no limit, and junk has its own',
  async (surface) => {
    const host = behind(await openHostAtOneAddress())
    const who = await signedInPerson(host, surface)
    const path = `/v1/auth/${surface}/logout`
    const junk = await times(61, () => host.send('POST', path, { body: { refreshToken: 'x.y.z' } }))
    expect(junk.map(outcomeOf)).toEqual([...Array<string>(60).fill('401'), limited])
    const again = await times(70, () => host.send('POST', path, { bearer: who.bearer }))
    expect(new Set(again.map(outcomeOf))).toEqual(new Set(['204']))
    const byCookie = await signIn(host, surface, who)
    const cookie = await host.send('POST', path, { cookie: byCookie.cookie })
    expect(outcomeOf(cookie)).toBe('204')
  },
)

eachSurface.it(
  'twelve people with an authenticator app behind one address all get in',
  async (surface) => {
    const open = await openHostAtOneAddress()
    const people: Enrolled[] = await times(12, () => enrolled(open, surface))
    await open.auth.close()
    await open.clock.advance(30 * 60_000)
    const host = behind(open)
    const outcomes = await times(12, async (index) => {
      const who = people[index]
      if (who === undefined) throw new Error('twelve were made')
      const mfaToken = await ticketOf(host, surface, who)
      return outcomeOf(await finish(host, surface, mfaToken, who.code()))
    })
    expect(outcomes).toEqual(Array<string>(12).fill('200'))
  },
)

it('junk at the public doors of factors does not shut an address out', async () => {
  const open = await openHostAtOneAddress({ settings: { webauthnMode: 'passwordless' } })
  const who = await enrolled(open, 'client')
  const host = behind(open)
  const junk = 'not-a-ticket'
  await times(40, (index) =>
    index % 2 === 0
      ? finish(host, 'client', junk, '123456')
      : host.send('POST', '/v1/auth/client/mfa/totp', { body: { mfaToken: junk } }),
  )
  await times(40, () => host.send('POST', '/v1/auth/client/webauthn/login/options', { body: {} }))
  const mfaToken = await ticketOf(host, 'client', who)
  expect(outcomeOf(await finish(host, 'client', mfaToken, await who.nextCode()))).toBe('200')
  // Nor the session of a person who proves a factor.
  const proof = await host.send('POST', '/v1/auth/client/step-up', {
    bearer: who.bearer,
    body: { method: 'backupCode', code: who.backupCodes[0] },
  })
  expect(outcomeOf(proof)).toBe('200')
})

eachSurface.it(
  'a classroom confirms its addresses, and junk there blocks no signed-in person',
  async (surface) => {
    const open = await openHostWith({ registerPerIp: { limit: 1000, windowMs: 60_000 } })
    const who = await signedInPerson(open, surface)
    const host = behind(open)
    const verify = (token: string) =>
      host.send('POST', `/v1/auth/${surface}/email/verify`, { body: { token } })
    const junk = await times(5, () => verify('x'.repeat(43)))
    expect(new Set(junk.map(outcomeOf))).toEqual(new Set(['400 invalid_token']))

    const emails = Array.from({ length: 30 }, (_, pupil) => `pupil-${pupil}@example.org`)
    for (const email of emails) {
      const body = { email, password: 'a passphrase of their very own' }
      const made = await host.send('POST', `/v1/auth/${surface}/register`, { body })
      expect(outcomeOf(made)).toBe('201')
    }
    for (const email of emails) {
      const token = await mailedToken(host, 'verifyEmail', email)
      const reply = await verify(token)
      expect(outcomeOf(reply)).not.toBe(limited)
    }
    const changed = await host.send('POST', `/v1/auth/${surface}/me/password`, {
      bearer: who.bearer,
      body: { currentPassword: who.password, newPassword: otherPassword },
    })
    expect(outcomeOf(changed)).toBe('204')
  },
)

eachSurface.it(
  'the public keys are there while sign-ins with providers are used up',
  async (surface) => {
    const host = behind(await openHostAtOneAddress())
    const providers = `/v1/auth/${surface}/oauth/providers`
    const asked = await times(31, () => host.send('GET', providers))
    expect(asked.map(outcomeOf).at(-1)).toBe(limited)
    expect(outcomeOf(await host.send('GET', `/v1/auth/${surface}/jwks`))).toBe('200')
  },
)

eachSurface.it(
  'a registration that the password rules refuse does not count for its address',
  async (surface) => {
    const host = behind(await openHostAtOneAddress())
    const limit = surface === 'operator' ? 5 : 10
    const register = async (pupil: number, password: string) => {
      const body = { email: `pupil-${pupil}@example.org`, password }
      return outcomeOf(await host.send('POST', `/v1/auth/${surface}/register`, { body }))
    }
    const short = await times(2 * limit, (pupil) => register(pupil, 'short'))
    expect(new Set(short)).toEqual(new Set(['422 password_policy']))
    const made = await times(limit, (pupil) => register(pupil, 'a passphrase of their very own'))
    expect(new Set(made)).toEqual(new Set(['201']))
    expect(await register(limit, 'a passphrase of their very own')).toBe(limited)
    expect(await register(limit, 'short')).toBe(limited)
  },
)

it('a registration that is refused as breached counts, since it asked another service', async () => {
  const fetcher = rangeService(['a passphrase of their very own'])
  const settings = { passwordBreachCheck: 'failOpen' } as const
  const host = behind(await openHostAtOneAddress({ settings, fetcher }))
  const body = { email: 'ada@example.org', password: 'a passphrase of their very own' }
  const outcomes = await times(11, async () =>
    outcomeOf(await host.send('POST', '/v1/auth/client/register', { body })),
  )
  expect(outcomes).toEqual([...Array<string>(10).fill('422 password_policy'), limited])
})

eachSurface.it(
  'page loads of visitors without a session leave the refreshes of their address alone',
  async (surface) => {
    const open = await openHostWith({ refreshPerIp: { limit: 2, windowMs: 60_000 } })
    const who = await signedInPerson(open, surface)
    const host = behind(open)
    const load = async (given: { readonly cookie?: string } = {}) =>
      outcomeOf(await host.send('GET', `/v1/auth/${surface}/session`, given))
    const name = who.cookie.split('=')[0] ?? ''
    for (const given of [{}, { cookie: `${name}=` }, { cookie: 'theme=dark' }]) {
      expect(new Set(await times(5, () => load(given)))).toEqual(new Set(['401']))
    }
    const { cookie } = who
    expect(await times(3, () => load({ cookie }))).toEqual(['200', '200', limited])
    // Junk counts as well.
    expect(await load({ cookie: `${name}=junk` })).toBe(limited)
    expect(await load()).toBe('401')
  },
)

eachSurface.it(
  'a mail about a registration that the mailer refuses does not use up those of the address',
  async (surface) => {
    const host = await openHostAtOneAddress()
    const taken = await person(host, surface)
    const register = (email: string) =>
      host.send('POST', `/v1/auth/${surface}/register`, {
        body: { email, password: otherPassword },
        headers: { 'x-forwarded-for': `198.51.100.${address++}` },
      })
    let address = 1
    for (const email of [taken.email, 'new@example.org']) {
      host.mailer.clear()
      host.mailer.fail(new Error('no relay'))
      for (const reply of await times(4, () => register(email))) expect(reply.status).toBe(201)
      await host.auth.close()
      host.mailer.fail(null)
      for (const reply of await times(4, () => register(email))) expect(reply.status).toBe(201)
      await host.auth.close()
      expect([email, host.mailer.count(email)]).toEqual([email, 3])
    }
  },
)
