import { decodeJwt } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { collectionsOf } from '../../src/model/collections.js'
import { type ContractHost, type HostOptions, memoryHost } from '../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInApp,
  signedInPerson,
  signIn,
} from '../support/people/people.js'
import { depthOf, meteredBackend, widthOf } from '../support/stores/call-depth.js'
import { faultyBackend } from '../support/stores/faulty-backend.js'
import { interruptible } from '../support/stores/interruptible.js'

const second = 1000
const day = 24 * 60 * 60 * second
const at = (path: string): string => `/v1/auth/client${path}`

/** Ways a thief's copy of a token might outlive what the owner did. */
describe('an ending reaches every token of the session', () => {
  let host: ContractHost
  afterEach(() => host.close())

  const start = async (options: HostOptions = {}): Promise<ContractHost> => {
    host = await memoryHost.start({ ...withoutLimits, ...options })
    return host
  }
  const me = (bearer: string) => host.send('GET', at('/me'), { bearer })
  const sidOf = (token: string): string => textOf(decodeJwt(token), 'sid')
  const stored = () => collectionsOf(host.backend.store, 'client', '')

  /** Another replica, whose clock is behind, takes the session for live and minted a token since. */
  async function lastMinuteToken() {
    const who = await signedInPerson(host, 'client')
    // No row is swept in the minute of its login.
    await host.clock.advance(2 * 60 * second)
    const expiresAt = host.clock.now()
    await stored().families.update(sidOf(who.bearer), { revokedAt: null }, { expiresAt })
    return { ...who, minted: who.bearer }
  }

  it.each([
    ['its idle window', {}, 7 * day],
    ['the cap', { sessionAbsoluteTTL: '3h' }, 3 * 60 * 60 * second],
  ])(
    'an access token keeps its lifetime near the end of %s, whatever minted it',
    async (_, settings, end) => {
      await start({ settings: { accessTokenTTL: '24h', ...settings } })
      const who = await signedInApp(host, 'client')
      const web = await signIn(host, 'client', who)
      await host.clock.advance(end - 1000)
      const body = { refreshToken: who.refreshToken }
      const minted = [
        await host.send('GET', at('/session'), { cookie: web.cookie }),
        ...(end < day ? [await host.send('POST', at('/refresh'), { body })] : []),
      ]
      for (const reply of minted) {
        const { expiresIn, accessToken } = reply.json()
        const { iat = 0, exp = 0 } = decodeJwt(String(accessToken))
        expect([expiresIn, exp - iat]).toEqual([day / second, day / second])
      }
      // Nobody refreshes: the tokens work until their own end, and no longer.
      await host.clock.advance(day - second)
      const statuses = async () =>
        Promise.all(
          minted.map(async (reply) => {
            const { status, code } = await me(textOf(reply.json(), 'accessToken'))
            return [status, code]
          }),
        )
      expect(await statuses()).toEqual(minted.map(() => [200, undefined]))
      await host.clock.advance(second)
      expect(await statuses()).toEqual(minted.map(() => [401, undefined]))
    },
  )

  it('a refresh past the cap ends the session, and its access tokens by that name', async () => {
    await start({ settings: { accessTokenTTL: '1h', sessionAbsoluteTTL: '3h' } })
    const who = await signedInApp(host, 'client')
    await host.clock.advance(3 * 60 * 60 * second - second)
    const last = await host.send('POST', at('/refresh'), {
      body: { refreshToken: who.refreshToken },
    })
    await host.clock.advance(2 * second)
    const bearer = textOf(last.json(), 'accessToken')
    expect((await me(bearer)).status).toBe(200)
    const refreshToken = textOf(last.json(), 'refreshToken')
    const late = await host.send('POST', at('/refresh'), { body: { refreshToken } })
    expect([late.status, late.code]).toEqual([401, 'session_max_age_reached'])
    expect((await me(bearer)).code).toBe('session_max_age_reached')
  })

  it.each(['in its row', 'swept'])(
    'also of one that is idle-expired, %s, when all are ended',
    async (state) => {
      await start()
      const who = await lastMinuteToken()
      if (state === 'swept') await stored().families.sweep(host.clock.now(), 10)
      expect((await me(who.minted)).status).toBe(200)
      await host.auth.client.terminateSessionsOf(who.id)
      expect((await me(who.minted)).code).toBe('session_revoked')
    },
  )

  it('also of one whose row was swept, when it is ended by its id', async () => {
    await start()
    const who = await lastMinuteToken()
    await stored().families.sweep(host.clock.now(), 10)
    expect(await host.auth.client.terminateSession(sidOf(who.minted))).toBe(true)
    expect((await me(who.minted)).code).toBe('session_revoked')
    expect(await host.auth.client.terminateSession(sidOf(who.minted))).toBe(false)
  })

  it('a repeated ending of all sessions reaches a younger one, of which the row was swept', async () => {
    await start({ env: { JWT_REFRESH_TOKEN_EXPIRY: '15m' }, settings: { accessTokenTTL: '1h' } })
    const issuedBefore = host.clock.now()
    await host.clock.advance(60 * second)
    const who = await signedInPerson(host, 'client')
    await host.clock.advance(16 * 60 * second)
    await stored().families.sweep(host.clock.now(), 10)
    expect((await me(who.bearer)).status).toBe(200)
    expect(await host.auth.terminateAllSessions({ issuedBefore })).toBe(1)
    expect((await me(who.bearer)).code).toBe('session_revoked')
  })

  const everywhere = (credentials: { bearer?: string; cookie?: string }) =>
    host.send('POST', at('/logout'), { ...credentials, body: { everywhere: true } })

  it('a sign-out everywhere by a token whose row was swept ends all, its own included', async () => {
    await start()
    const who = await lastMinuteToken()
    const other = await signIn(host, 'client', who)
    await stored().families.sweep(host.clock.now(), 10)
    const out = await everywhere({ bearer: who.minted })
    expect(out.status).toBe(204)
    for (const bearer of [who.minted, other.bearer]) {
      expect((await me(bearer)).code).toBe('session_revoked')
    }
    const refreshed = await host.send('POST', at('/refresh-cookie'), { cookie: other.cookie })
    expect(refreshed.code).toBe('session_revoked')
    const ended = host.events.filter(({ type }) => type === 'session.terminated')
    expect(ended).toHaveLength(2)
    // Which of the two was it? Nothing tells any more, so it is not said that all is done.
    expect((await everywhere({ bearer: who.minted })).code).toBe('session_revoked')
  })

  it('a sign-out everywhere by a session that was ended is refused, and one sent again is not', async () => {
    await start()
    const who = await signedInPerson(host, 'client')
    const other = await signIn(host, 'client', who)
    await host.auth.client.terminateSession(sidOf(who.bearer))
    for (const credentials of [{ bearer: who.bearer }, { cookie: who.cookie }]) {
      const out = await everywhere(credentials)
      expect([out.status, out.code]).toEqual([401, 'session_revoked'])
    }
    expect((await me(other.bearer)).status).toBe(200)
    // With one credential that is good, what it asks for is done.
    expect((await everywhere({ bearer: other.bearer, cookie: who.cookie })).status).toBe(204)
    expect((await everywhere({ bearer: other.bearer })).status).toBe(204)
    expect((await me(other.bearer)).code).toBe('session_revoked')
  })

  it('a sign-out everywhere of 1,001 sessions waits for the store 200 times, not 3,000', async () => {
    const metered = meteredBackend(memory())
    await start({ backend: metered.backend })
    const who = await signedInPerson(host, 'client')
    const { families, sessions } = stored()
    const family = await families.get(sidOf(who.bearer))
    const document = await sessions.get(sidOf(who.bearer))
    if (family === null || document === null) return expect.unreachable()
    for (let n = 0; n < 1000; n += 1) {
      const id = `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
      await families.insert({ ...family, id })
      await sessions.insert({ ...document, id })
    }
    await host.auth.close()
    metered.take()
    expect((await everywhere({ bearer: who.bearer })).status).toBe(204)
    const calls = metered.take().filter(({ name }) => !name.includes('audit_records.'))
    expect(depthOf(calls)).toBeLessThan(200)
    const first = await sessions.find({ userId: who.id }, { limit: 1000 })
    const last = await sessions.find(
      { userId: who.id },
      { limit: 2, after: first.at(-1)?.id ?? '' },
    )
    expect([first.length, last.length]).toEqual([1000, 1])
    expect([...first, ...last].filter(({ active }) => active)).toEqual([])
    // Others share the database meanwhile.
    expect(widthOf(calls)).toBeLessThanOrEqual(20)
  })

  /** Whoever refreshes, with a copy of the kept session's token or with what came of it. */
  const refreshed = (cookie: string) => host.send('POST', at('/refresh-cookie'), { cookie })

  async function changed({ bearer, cookie, password: currentPassword }: Person & SignedIn) {
    const body = { currentPassword, newPassword: otherPassword }
    const reply = await host.send('POST', at('/me/password'), { bearer, cookie, body })
    expect([reply.status, reply.setCookies]).toEqual([204, []])
  }

  it('of the holders of one token, the second to refresh after a password change is replay', async () => {
    await start()
    const who = await signedInPerson(host, 'client')
    await changed(who)
    expect((await me(who.bearer)).status).toBe(200)
    const session = await host.send('GET', at('/session'), { cookie: who.cookie })
    expect([session.status, session.setCookies]).toEqual([200, []])
    const first = await refreshed(who.cookie)
    expect([first.status, first.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
    // At once, as a second tab might: after a change there is no window.
    const copy = await refreshed(who.cookie)
    expect([copy.status, copy.code]).toEqual([401, 'refresh_token_reused'])
    expect((await refreshed(refreshCookieOf(first, 'client'))).code).toBe('session_revoked')
    expect(host.events.map(({ type }) => type)).toContain('refresh.replayDetected')
  })

  it('a copy that rotated just before a password change is not followed by its owner', async () => {
    await start()
    const who = await signedInPerson(host, 'client')
    const stolen = refreshCookieOf(await refreshed(who.cookie), 'client')
    await changed(who)
    const owner = await refreshed(who.cookie)
    expect([owner.status, owner.code]).toEqual([401, 'refresh_token_reused'])
    expect((await refreshed(stolen)).code).toBe('session_revoked')
  })

  it('two tabs race as ever with tokens from after a password change', async () => {
    await start()
    const who = await signedInPerson(host, 'client')
    await changed(who)
    const newest = refreshCookieOf(await refreshed(who.cookie), 'client')
    const outcomes = [await refreshed(newest), await refreshed(newest)]
    const shown = outcomes.map(({ headers }) => headers.get('x-refresh-outcome'))
    expect(shown).toEqual(['rotated', 'reissued'])
  })

  it('a password change that leaves sessions alone leaves their tokens alone', async () => {
    await start({ settings: { revokeSessionsOnPasswordChange: false } })
    const who = await signedInPerson(host, 'client')
    await changed(who)
    const outcomes = [await refreshed(who.cookie), await refreshed(who.cookie)]
    const shown = outcomes.map(({ headers }) => headers.get('x-refresh-outcome'))
    expect(shown).toEqual(['rotated', 'reissued'])
  })

  it('a copy that refreshes at any moment of a password change is not followed by its owner', async () => {
    let interrupted = 0
    for (let nth = 1; ; nth += 1) {
      const { backend, interrupt } = interruptible()
      await start({ backend })
      const who = await signedInPerson(host, 'client')
      let stolen = ''
      const wasInterrupted = await interrupt(
        nth,
        async () => {
          stolen = refreshCookieOf(await refreshed(who.cookie), 'client')
        },
        () => changed(who),
      )
      if (!wasInterrupted) break
      interrupted += 1
      expect([nth, (await refreshed(who.cookie)).code]).toEqual([nth, 'refresh_token_reused'])
      expect((await refreshed(stolen)).code).toBe('session_revoked')
      await host.close()
    }
    expect(interrupted).toBeGreaterThan(5)
  })

  it('a password is never changed before re-issues are barred, wherever a change is cut short', async () => {
    const states: boolean[][] = []
    for (let nth = 1; ; nth += 1) {
      const { backend, interrupt } = interruptible()
      await start({ backend })
      const who = await signedInPerson(host, 'client')
      const sid = sidOf(who.bearer)
      const look = async () => {
        const user = await stored().users.get(who.id)
        const family = await stored().families.get(sid)
        states.push([family?.noReissueUpTo === 1, user?.keptSessionId === sid])
      }
      const wasInterrupted = await interrupt(nth, look, () => changed(who))
      if (!wasInterrupted) break
      await host.close()
    }
    expect(states).toContainEqual([true, false])
    expect(states).not.toContainEqual([false, true])
  })

  it.each([
    ['the newest token', ['newest']],
    ['the newest token and another copy', ['newest', 'copy']],
    ['another copy and the newest token', ['copy', 'newest']],
  ] as const)('a replay raises its one alarm, wherever %s come in between', async (_, between) => {
    let interrupted = 0
    for (let nth = 1; ; nth += 1) {
      const { backend, interrupt } = interruptible()
      await start({ backend })
      const who = await signedInPerson(host, 'client')
      const refresh = (cookie: string) => host.send('POST', at('/refresh-cookie'), { cookie })
      const rotated = await refresh(who.cookie)
      const cookies = { newest: refreshCookieOf(rotated, 'client'), copy: who.cookie }
      await host.clock.advance(11 * second)
      const codes: unknown[] = []
      const showing = async (cookie: string) => {
        codes.push((await refresh(cookie)).code)
      }
      const wasInterrupted = await interrupt(
        nth,
        async () => {
          for (const which of between) await showing(cookies[which])
        },
        () => showing(cookies.copy),
      )
      if (!wasInterrupted) break
      interrupted += 1
      const alarms = host.events.filter(({ type }) => type === 'refresh.replayDetected')
      expect([nth, alarms.length]).toEqual([nth, 1])
      expect(codes.filter((code) => code === 'refresh_token_reused')).toHaveLength(1)
      await host.close()
    }
    expect(interrupted).toBeGreaterThan(5)
  })

  it.each(['the owner', 'an administrator', 'all at once'] as const)(
    'an ending over the maximum age that was interrupted keeps its name, finished by %s',
    async (by) => {
      const faulty = faultyBackend(memory())
      await start({ backend: faulty.backend, settings: { sessionAbsoluteTTL: '1h' } })
      const who = await signedInPerson(host, 'client')
      const sid = sidOf(who.bearer)
      await host.clock.advance(60 * 60 * second + 1)
      faulty.failNext('client_refresh_tokens.update', 'before')
      const late = await host.send('GET', at('/session'), { cookie: who.cookie })
      expect(late.status).toBe(503)
      if (by === 'the owner') {
        await host.send('POST', at('/logout'), { cookie: who.cookie })
      } else if (by === 'an administrator') await host.auth.client.terminateSession(sid)
      else await host.auth.client.terminateSessionsOf(who.id)
      expect(await stored().families.get(sid)).toMatchObject({ revokedReason: 'max_age' })
      expect(await stored().sessions.get(sid)).toMatchObject({ endReason: 'max_age' })
      const ended = host.events.filter(({ type }) => type === 'session.terminated')
      expect(ended).toMatchObject([{ reason: 'max_age', actorId: null }])
    },
  )

  it('an ending goes on though nobody can tell whether it was begun before', async () => {
    const faulty = faultyBackend(memory())
    await start({ backend: faulty.backend })
    const who = await signedInPerson(host, 'client')
    faulty.failNext('denylist.find', 'before')
    expect(await host.auth.client.terminateSession(sidOf(who.bearer))).toBe(true)
    expect((await me(who.bearer)).code).toBe('session_revoked')
  })

  it('an ending that could not reach the row outlasts it', async () => {
    const faulty = faultyBackend(memory())
    await start({ backend: faulty.backend })
    const who = await signedInPerson(host, 'client')
    faulty.failNext('client_refresh_tokens.update', 'before')
    const out = await host.send('POST', at('/logout'), { bearer: who.bearer })
    expect(out.status).toBe(503)
    for (const days of [2, 4]) {
      await host.clock.advance(days * day)
      const reply = await host.send('GET', at('/session'), { cookie: who.cookie })
      expect([reply.status, reply.code]).toEqual([401, 'session_revoked'])
    }
  })

  it.each(['before', 'after'] as const)(
    'the alarm is raised once though the document fails (%s the write)',
    async (mode) => {
      const faulty = faultyBackend(memory())
      await start({ backend: faulty.backend, settings: { refreshReuseGrace: '0s' } })
      const who = await signedInPerson(host, 'client')
      await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
      faulty.failNext('client_sessions.update', mode)
      const first = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
      expect(first.status).toBe(503)
      const next = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
      expect(next.code).toBe('session_revoked')
      const alarms = host.events.filter(({ type }) => type === 'refresh.replayDetected')
      expect(alarms).toHaveLength(1)
      expect(await stored().sessions.get(sidOf(who.refreshToken))).toMatchObject({ active: false })
    },
  )

  it('the alarm is raised though the answer of the row was lost', async () => {
    const faulty = faultyBackend(memory())
    await start({ backend: faulty.backend, settings: { refreshReuseGrace: '0s' } })
    const who = await signedInPerson(host, 'client')
    await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
    // The first update is the refresh itself, whose guard misses; the second revokes the family.
    faulty.onCall('denylist.put', () => faulty.failNext('client_refresh_tokens.update', 'after'))
    const replay = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
    expect([replay.status, replay.code]).toEqual([401, 'refresh_token_reused'])
    expect(host.events.map(({ type }) => type)).toContain('refresh.replayDetected')
  })

  it('a retired token at logout ends its session with the alarm, and no other session', async () => {
    await start()
    const who = await signedInPerson(host, 'client')
    const other = await signIn(host, 'client', who)
    const next = await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie })
    await host.send('POST', at('/refresh-cookie'), { cookie: refreshCookieOf(next, 'client') })
    const out = await host.send('POST', at('/logout'), {
      body: { refreshToken: who.refreshToken, everywhere: true },
    })
    expect([out.status, out.code]).toEqual([401, 'session_revoked'])
    expect(host.events.map(({ type }) => type)).toContain('refresh.replayDetected')
    expect((await me(who.bearer)).code).toBe('session_revoked')
    expect((await me(other.bearer)).status).toBe(200)
  })
})

describe('a refresh whose store lost the answer', () => {
  it('is not taken for replay when others rotated on before it looked', async () => {
    const faulty = faultyBackend(memory())
    const host = await memoryHost.start({ ...withoutLimits, backend: faulty.backend })
    try {
      const who = await signedInPerson(host, 'client')
      const refresh = (cookie: string) => host.send('POST', at('/refresh-cookie'), { cookie })
      faulty.failNext('client_refresh_tokens.update', 'after')
      let newest = ''
      faulty.onCall('client_refresh_tokens.get', async () => {
        const reissued = await refresh(who.cookie)
        newest = refreshCookieOf(await refresh(refreshCookieOf(reissued, 'client')), 'client')
      })
      const unlucky = await refresh(who.cookie)
      expect([unlucky.status, unlucky.code]).toEqual([503, 'session_enforcement_unavailable'])
      expect((await refresh(newest)).headers.get('x-refresh-outcome')).toBe('rotated')
    } finally {
      await host.close()
    }
  })
})
