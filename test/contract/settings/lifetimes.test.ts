import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn, surfaces } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, finish, ticketOf } from '../../support/people/authenticator.js'
import {
  type Person,
  person,
  type SignedIn,
  signedInPerson,
  signIn,
  signInApp,
} from '../../support/people/people.js'
import { administrator, grant, serviceAccount } from '../../support/people/service-account-steps.js'
import { changeSettings, oauthHost } from '../oauth/oauth-host.js'
import { settingsHost } from './settings-host.js'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const tooOld = '401 session_max_age_reached'

/** Seconds that an access token of this moment lives, by the reply and by the token. */
async function lifetimeOn(host: ContractHost, surface: Surface = 'client'): Promise<number> {
  const { email, password } = await person(host, surface)
  const path = `/v1/auth/${surface}/login`
  return lifetimeIn(await host.send('POST', path, { body: { email, password } }))
}

function lifetimeIn(reply: Reply): number {
  expect(reply.status, reply.text).toBe(200)
  const { exp = 0, iat = 0 } = decodeJwt(textOf(reply.json(), 'accessToken'))
  expect(reply.json()['expiresIn']).toBe(exp - iat)
  return exp - iat
}

async function pass(host: ContractHost, ms: number): Promise<void> {
  await host.auth.close()
  await host.clock.advance(ms)
}

/** Another process over the same database, as a host that starts again is. */
async function restarted(host: ContractHost, options: HostOptions = {}): Promise<ContractHost> {
  const { backend, clock } = host
  return { ...(await openHost({ ...withoutLimits, ...options, backend, clock })), clock }
}

describe('the lifetime of access tokens', () => {
  it('is the setting, else that of the environment, else 15 minutes', async () => {
    const host = await settingsHost({ env: { JWT_ACCESS_TOKEN_EXPIRY: '10m' } })
    for (const surface of surfaces) expect(await lifetimeOn(host, surface)).toBe(600)
    await host.set({ config: { accessTokenTTL: '5m' } })
    for (const surface of surfaces) expect(await lifetimeOn(host, surface)).toBe(300)
    await host.set({ config: { accessTokenTTL: '' } })
    expect(await lifetimeOn(host)).toBe(600)
    // The variable counts where it is now, as long as nothing is set.
    const other = await restarted(host, { env: { JWT_ACCESS_TOKEN_EXPIRY: '20m' } })
    expect(await lifetimeOn(other)).toBe(1200)
    const bare = await restarted(host)
    expect(await lifetimeOn(bare)).toBe(900)
    for (const damaged of ['soon', '-5m', '15 m']) {
      const env = { JWT_ACCESS_TOKEN_EXPIRY: damaged }
      const warned = await openHost({ ...withoutLimits, env })
      expect(await lifetimeOn(warned)).toBe(900)
      const warnings = warned.logger.lines.filter(({ level }) => level === 'warn')
      expect(JSON.stringify(warnings)).toContain('JWT_ACCESS_TOKEN_EXPIRY')
    }
  })

  it('is one minute to 24 hours: what is longer is taken, and acts as 24 hours', async () => {
    const host = await settingsHost()
    for (const [typed, seconds] of [
      ['1m', 60],
      ['24h', 86_400],
      ['24h1s', 86_400],
      ['25h', 86_400],
      ['48h', 86_400],
      ['999999h', 86_400],
    ] as const) {
      expect(outcomeOf(await host.patch({ config: { accessTokenTTL: typed } }))).toBe('200')
      expect([typed, await lifetimeOn(host)]).toEqual([typed, seconds])
      const env = { JWT_ACCESS_TOKEN_EXPIRY: typed }
      const byEnv = await openHost({ ...withoutLimits, env })
      expect([typed, await lifetimeOn(byEnv)]).toEqual([typed, seconds])
    }
  })

  it('is never below one minute: refused as a setting, raised in the environment', async () => {
    const host = await settingsHost()
    await host.set({ config: { accessTokenTTL: '5m' } })
    for (const typed of ['59s', '59999ms', '1ms', '0', '0s']) {
      const refused = await host.patch({ config: { accessTokenTTL: typed } })
      expectProblem(refused, 422, 'auth.access_token_ttl_too_short', 'accessTokenTTL')
      expect(await lifetimeOn(host)).toBe(300)
      const env = { JWT_ACCESS_TOKEN_EXPIRY: typed }
      expect([typed, await lifetimeOn(await openHost({ ...withoutLimits, env }))]).toEqual([
        typed,
        60,
      ])
    }
    const negative = await host.patch({ config: { accessTokenTTL: '-5m' } })
    expect(negative.status).toBe(422)
    expect(await lifetimeOn(host)).toBe(300)
    // Cleared is no zero.
    await host.set({ config: { accessTokenTTL: '' } })
    expect(await lifetimeOn(host)).toBe(900)
  })

  eachSurface.it('is that of each token’s own moment, whatever minted it', async (surface) => {
    const authorizer = { check: async () => true }
    const host = await oauthHost({ authorizer, settings: { accessTokenTTL: '10m' } })
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const older = await signedInPerson(host, surface)
    const app = await signInApp(host, surface, older)
    const who = await enrolled(host, surface)
    const account = { subject: '1815', email: 'ada@example.org', verified: true }
    const machine =
      surface === 'operator' ? await serviceAccount(host, await administrator(host)) : null
    await changeSettings(host, { accessTokenTTL: '20m' })
    const ticket = await ticketOf(host, surface, who)
    const { email, password } = older
    const minted = [
      await host.send('POST', at('/login'), { body: { email, password } }),
      await host.send('POST', at('/mobile/login'), { body: { email, password } }),
      await host.send('GET', at('/session'), { cookie: older.cookie }),
      await host.send('POST', at('/refresh-cookie'), { cookie: older.cookie }),
      await host.send('POST', at('/refresh'), { body: { refreshToken: app.refreshToken } }),
      await finish(host, surface, ticket, await who.nextCode()),
      await host.signInApp(surface, 'google', account),
      ...(machine === null ? [] : [await grant(host, machine)]),
    ]
    expect(minted.map(lifetimeIn)).toEqual(minted.map(() => 1200))
    const me = async () => outcomeOf(await host.send('GET', at('/me'), { bearer: older.bearer }))
    const { exp = 0, iat = 0 } = decodeJwt(older.bearer)
    expect(exp - iat).toBe(600)
    await pass(host, exp * 1000 - 1 - host.clock.now())
    expect(await me()).toBe('200')
    await host.clock.advance(1)
    expect(await me()).toBe('401')
  })
})

eachSurface.describe('the idle window', (surface) => {
  const sidOf = ({ refreshToken }: SignedIn) => textOf(decodeJwt(refreshToken), 'sid')
  const refreshed = (host: ContractHost, cookie: string) =>
    host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })
  const deadline = async (host: ContractHost, who: SignedIn) =>
    (await storedIn(host, surface).families.get(sidOf(who)))?.expiresAt

  it('is 7 days or what the environment says, counted anew from each refresh', async () => {
    const first = await openHost(withoutLimits)
    const who = await signedInPerson(first, surface)
    expect(await deadline(first, who)).toBe(first.clock.now() + 7 * day)
    await pass(first, 3 * day)
    const cookie = refreshCookieOf(await refreshed(first, who.cookie), surface)
    expect(await deadline(first, who)).toBe(first.clock.now() + 7 * day)

    const other = await restarted(first, { env: { JWT_REFRESH_TOKEN_EXPIRY: '2h' } })
    // A row keeps what was written, until the next refresh writes it.
    expect(await deadline(other, who)).toBe(first.clock.now() + 7 * day)
    await pass(other, 3 * hour)
    const next = await refreshed(other, cookie)
    expect(next.status).toBe(200)
    expect(await deadline(other, who)).toBe(other.clock.now() + 2 * hour)
    const newest = await signIn(other, surface, who)
    expect(await deadline(other, newest)).toBe(other.clock.now() + 2 * hour)
    await pass(other, 2 * hour)
    const late = await refreshed(other, refreshCookieOf(next, surface))
    expect(outcomeOf(late)).toBe('401 refresh_token_expired')
  })

  it('is one deadline, in the token, in its row and in the cookie', async () => {
    for (const [env, seconds] of [
      [{}, 604_800],
      [{ JWT_REFRESH_TOKEN_EXPIRY: '90m' }, 5400],
    ] as const) {
      const host = await openHost({ ...withoutLimits, env })
      const { email, password } = await person(host, surface)
      const body = { email, password }
      // In the middle of a second.
      await host.clock.advance(400)
      let reply = await host.send('POST', `/v1/auth/${surface}/login`, { body })
      for (let round = 0; round < 3; round += 1) {
        const cookie = refreshCookieOf(reply, surface)
        const { exp = 0, sid } = decodeJwt(cookie.slice(cookie.indexOf('=') + 1))
        const row = await storedIn(host, surface).families.get(String(sid))
        const maxAge = /_refresh=[^;]*;.*?Max-Age=(\d+)/.exec(reply.setCookies.join('\n'))?.[1]
        expect(Number(maxAge)).toBe(seconds)
        expect(exp).toBe(Math.floor(host.clock.now() / 1000) + seconds)
        expect(row?.expiresAt).toBe(exp * 1000)
        await host.clock.advance(20 * minute + 333)
        reply = await refreshed(host, cookie)
      }
    }
  })
})

describe('the maximum age of sessions', () => {
  /** Refreshes every six days or sooner, until `ms` after the login. */
  async function livedUntil(host: ContractHost, who: Person & SignedIn, ms: number) {
    const loginAt = host.clock.now()
    let { cookie } = who
    let reply: Reply | null = null
    while (host.clock.now() < loginAt + ms) {
      await pass(host, Math.min(6 * day, loginAt + ms - host.clock.now()))
      reply = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie })
      if (reply.status !== 200) return { outcome: outcomeOf(reply), cookie }
      cookie = refreshCookieOf(reply, 'client')
    }
    return { outcome: '200', cookie }
  }

  const again = async (host: ContractHost, cookie: string) =>
    outcomeOf(await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie }))

  it('is 720 hours where nothing was ever set', async () => {
    const host = await openHost(withoutLimits)
    const who = await signedInPerson(host, 'client')
    const { outcome, cookie } = await livedUntil(host, who, 720 * hour)
    expect(outcome).toBe('200')
    await pass(host, 1)
    expect(await again(host, cookie)).toBe(tooOld)
  })

  it('is one hour to 89 days: anything else is refused, and changes nothing', async () => {
    const host = await settingsHost()
    for (const sessionAbsoluteTTL of ['1h', '60m', '720h', '89d', '2136h']) {
      const taken = await host.patch({ config: { sessionAbsoluteTTL } })
      expect([sessionAbsoluteTTL, outcomeOf(taken)]).toEqual([sessionAbsoluteTTL, '200'])
    }
    const before = (await host.get('/environments/production')).json()
    for (const sessionAbsoluteTTL of ['59m', '59m59s', '0', '0s', '89d1s', '90d', '9999d']) {
      const refused = await host.patch({ config: { sessionAbsoluteTTL } })
      expect([sessionAbsoluteTTL, refused.status]).toEqual([sessionAbsoluteTTL, 422])
      expect(refused.code).toMatch(/^auth\./)
    }
    expect((await host.get('/environments/production')).json()).toEqual(before)
  })

  it('is none once the field is cleared', async () => {
    const host = await settingsHost()
    const who = await signedInPerson(host, 'client')
    await host.set({ config: { sessionAbsoluteTTL: '' } })
    const { outcome, cookie } = await livedUntil(host, who, 200 * day)
    expect(outcome).toBe('200')
    expect(await again(host, cookie)).toBe('200')
  })

  it('that was never set is not one that was cleared, before and after a restart', async () => {
    const never = await settingsHost()
    const cleared = await settingsHost()
    await cleared.set({ config: { sessionAbsoluteTTL: '' } })
    const shown = async (host: typeof never) => {
      const { config, sources } = (await host.get('/environments/production')).json() as {
        config: Record<string, string>
        sources: Record<string, string>
      }
      return [config['sessionAbsoluteTTL'], sources['sessionAbsoluteTTL']]
    }
    expect(await shown(never)).toEqual([undefined, 'default'])
    expect(await shown(cleared)).toEqual(['', 'store'])
    for (const [host, outcome] of [
      [never, tooOld],
      [cleared, '200'],
    ] as const) {
      const who = await signedInPerson(host, 'client')
      const replica = await restarted(host)
      const { cookie } = await livedUntil(replica, who, 720 * hour)
      await pass(replica, 1)
      expect(await again(replica, cookie)).toBe(outcome)
    }
  })

  it('is no variable of the environment, and counts from the login', async () => {
    const env = Object.fromEntries(
      [
        'sessionAbsoluteTTL',
        'SESSION_ABSOLUTE_TTL',
        'JWT_SESSION_ABSOLUTE_TTL',
        'SESSIONABSOLUTETTL',
      ].map((name) => [name, '1h']),
    )
    const host = await settingsHost({ env })
    const who = await signedInPerson(host, 'client')
    const day1 = await livedUntil(host, who, day)
    expect(day1.outcome).toBe('200')
    // By the setting: 25 hours after the login, however short a while ago the last refresh was.
    await host.set({ config: { sessionAbsoluteTTL: '25h' } })
    await pass(host, hour)
    const last = await host.send('POST', '/v1/auth/client/refresh-cookie', { cookie: day1.cookie })
    expect(last.status).toBe(200)
    await pass(host, 1)
    expect(await again(host, refreshCookieOf(last, 'client'))).toBe(tooOld)
  })
})
