import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { AuthError } from '../../../src/errors/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { type Reply, refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, storedIn, type surfaces } from '../../support/hosts/open-host.js'
import { testSigningKey } from '../../support/keys.js'
import {
  goodPassword,
  otherPassword,
  signedInApp,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { doorNames, refreshDoors, signedInFor } from '../../support/people/refresh-doors.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const hour = 60 * 60 * 1000
const minute = 60 * 1000

/** A host on a store whose calls can be made to fail. */
async function faultyHost(options: HostOptions = {}) {
  const store = faultyBackend(memory())
  return { store, host: await openHost({ backend: store.backend, ...options }) }
}

type Surface = (typeof surfaces)[number]
type Credentials = Pick<Awaited<ReturnType<typeof signIn>>, 'cookie' | 'refreshToken'>

const me = (host: ContractHost, surface: Surface, bearer: string): Promise<Reply> =>
  host.send('GET', `/v1/auth/${surface}/me`, { bearer })

const sidOf = ({ refreshToken }: Pick<Credentials, 'refreshToken'>): string =>
  textOf(decodeJwt(refreshToken), 'sid')

const combinations = eachSurface.cells.flatMap((surface) =>
  doorNames.map((door) => ({ surface, door })),
)

describe.each(combinations)('/$door [$surface] while a part of the store fails', (given) => {
  const { surface, door } = given
  const signedIn = signedInFor(door)

  it('the session documents are not asked: without them it goes on', async () => {
    const { store, host } = await faultyHost()
    const who = await signedIn(host, surface)
    for (const method of ['get', 'find', 'update', 'insert']) {
      store.failNext(`${surface}_sessions.${method}`, 'before', Infinity)
    }
    expect((await refreshDoors[door](host, surface, who)).status).toBe(200)
  })

  it.each(['denylist.put', 'refresh_tokens.update', 'sessions.update'])(
    'an ending cut short at %s is 503, and complete at the next attempt',
    async (call) => {
      const { store, host } = await faultyHost({ settings: { sessionAbsoluteTTL: '1h' } })
      const who = await signedIn(host, surface)
      await host.clock.advance(hour + 1)
      // The row is written once to consume and once to end; here only the ending is made to fail.
      store.onCall('denylist.put', () => {
        store.failNext(call.startsWith('denylist') ? call : `${surface}_${call}`, 'before')
      })
      const refused = await refreshDoors[door](host, surface, who)
      expectProblem(refused, 503, 'session_enforcement_unavailable')
      expect(refused.setCookies).toEqual([])
      const ended = await refreshDoors[door](host, surface, who)
      expectProblem(ended, 401, 'session_max_age_reached')
      const { families, sessions } = storedIn(host, surface)
      const id = `${surface}:session:${sidOf(who)}`
      expect(await host.backend.denylist.find([id])).toMatchObject([{ reason: 'max_age' }])
      expect(await families.get(sidOf(who))).toMatchObject({ revokedReason: 'max_age' })
      expect(await sessions.get(sidOf(who))).toMatchObject({ active: false, endReason: 'max_age' })
    },
  )

  it('keys that cannot be read again stop nobody: the ring at hand goes on', async () => {
    const current = await testSigningKey()
    let fails = false
    const keys = async () => {
      if (fails) throw new Error('the vault is sealed')
      return { current }
    }
    const { host } = await faultyHost({ keys })
    const who = await signedIn(host, surface)
    fails = true
    await host.clock.advance(2 * minute - 1000)
    expect((await refreshDoors[door](host, surface, who)).status).toBe(200)
    await expect(host.auth.keys.reload()).rejects.toThrow()
    expect((await me(host, surface, who.bearer)).status).toBe(200)
  })
})

eachSurface.describe('a lost answer', (surface) => {
  it('a rotation whose answer was lost is seen in the row: no 503, no re-issue', async () => {
    const { store, host } = await faultyHost({ settings: { refreshReuseGrace: '0s' } })
    const who = await signedInApp(host, surface)
    store.failNext(`${surface}_refresh_tokens.update`, 'after')
    const reply = await refreshDoors.refresh(host, surface, who)
    expect([reply.status, reply.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
    const next = { cookie: '', refreshToken: textOf(reply.json(), 'refreshToken') }
    expect(eventsOf(host, 'refresh.rotated')).toMatchObject([{ sessionId: sidOf(who) }])
    expect((await refreshDoors.refresh(host, surface, next)).status).toBe(200)
  })

  it('where the row cannot be read either, the window covers the same token', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInPerson(host, surface)
    store.failNext(`${surface}_refresh_tokens.update`, 'after')
    store.failNext(`${surface}_refresh_tokens.get`, 'before')
    expectProblem(
      await refreshDoors['refresh-cookie'](host, surface, who),
      503,
      'session_enforcement_unavailable',
    )
    const again = await refreshDoors['refresh-cookie'](host, surface, who)
    expect([again.status, again.headers.get('x-refresh-outcome')]).toEqual([200, 'reissued'])
    const cookie = refreshCookieOf(again, surface)
    const on = await refreshDoors['refresh-cookie'](host, surface, { ...who, cookie })
    expect(on.headers.get('x-refresh-outcome')).toBe('rotated')
  })

  it('a replay found while the store fails is still told, and raises its alarm', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInApp(host, surface)
    await refreshDoors.refresh(host, surface, who)
    await host.clock.advance(minute)
    store.onCall('denylist.put', () => {
      store.failNext(`${surface}_refresh_tokens.update`, 'before')
    })
    const refused = await refreshDoors.refresh(host, surface, who)
    expectProblem(refused, 503, 'session_enforcement_unavailable')
    expect((await me(host, surface, who.bearer)).code).toBe('session_revoked')
    expectProblem(await refreshDoors.refresh(host, surface, who), 401, 'refresh_token_reused')
    expect(host.events.filter(({ type }) => type === 'refresh.replayDetected')).toHaveLength(1)
  })

  it('ending all sessions, interrupted anywhere, is completed by the same call', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInPerson(host, surface)
    await host.clock.advance(1)
    const other = await signIn(host, surface, who)
    store.failNext(`${surface}_sessions.update`, 'before')
    const { terminateSessionsOf } = host.auth[surface]
    await expect(terminateSessionsOf(who.id)).rejects.toThrow(AuthError)
    await terminateSessionsOf(who.id)
    for (const one of [who, other]) {
      const { sessions, families } = storedIn(host, surface)
      expect(await sessions.get(sidOf(one))).toMatchObject({ active: false, endReason: 'admin' })
      expect(await families.get(sidOf(one))).toMatchObject({ revokedReason: 'admin' })
      expect((await me(host, surface, one.bearer)).code).toBe('session_revoked')
    }
  })

  it('a logout everywhere that failed half way is completed from the same session', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInPerson(host, surface)
    await host.clock.advance(1)
    const newest = await signIn(host, surface, who)
    const logout = () =>
      host.send('POST', `/v1/auth/${surface}/logout`, {
        bearer: newest.bearer,
        body: { everywhere: true },
      })
    // One of the two is ended, the other is not.
    store.onCall(`${surface}_sessions.update`, () => store.failNext('denylist.put', 'before'))
    expectProblem(await logout(), 503, 'session_enforcement_unavailable')
    expect((await logout()).status).toBe(204)
    for (const one of [who, newest]) {
      expect((await me(host, surface, one.bearer)).code).toBe('session_revoked')
      expect(await storedIn(host, surface).families.get(sidOf(one))).toMatchObject({
        revokedReason: 'logout',
      })
    }
  })

  it('a logout everywhere ends its own session last, so that the same request ends what was left', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInPerson(host, surface)
    await host.clock.advance(1)
    const newest = await signIn(host, surface, who)
    const logout = () =>
      host.send('POST', `/v1/auth/${surface}/logout`, {
        bearer: who.bearer,
        body: { everywhere: true },
      })
    store.failNext(`${surface}_sessions.update`, 'before')
    expect((await logout()).status).toBe(503)
    expect((await me(host, surface, who.bearer)).status).toBe(200)
    expect((await logout()).status).toBe(204)
    for (const one of [who, newest]) {
      expect(await storedIn(host, surface).sessions.get(sidOf(one))).toMatchObject({
        active: false,
        endReason: 'logout',
      })
    }
  })

  it('a password change that failed half way is completed by the same request', async () => {
    const { store, host } = await faultyHost()
    const who = await signedInPerson(host, surface)
    await host.clock.advance(1)
    const own = await signIn(host, surface, who)
    const body = { currentPassword: goodPassword, newPassword: otherPassword }
    const change = () =>
      host.send('POST', `/v1/auth/${surface}/me/password`, { bearer: own.bearer, body })
    store.failNext('denylist.put', 'before')
    expectProblem(await change(), 503, 'service_unavailable')
    expect((await me(host, surface, who.bearer)).status).toBe(200)
    expect((await change()).status).toBe(204)
    expect((await me(host, surface, who.bearer)).code).toBe('session_revoked')
    expect((await me(host, surface, own.bearer)).status).toBe(200)
  })

  it('completing a password change is a guess like any other and counts as one', async () => {
    const { host } = await faultyHost({ settings: { lockoutThreshold: 5 } })
    const own = await signedInPerson(host, surface)
    const change = (currentPassword: string, newPassword: string) =>
      host.send('POST', `/v1/auth/${surface}/me/password`, {
        bearer: own.bearer,
        body: { currentPassword, newPassword },
      })
    expect((await change(goodPassword, otherPassword)).status).toBe(204)
    const guesses: string[] = []
    for (let n = 0; n < 4; n += 1) {
      const reply = await change(`a wrong guess, number ${n}`, `another wrong one, number ${n}`)
      guesses.push(String(reply.code))
    }
    // Two a request: the fifth guess is the last that is looked at, and ends the session.
    expect(guesses).toEqual([
      'invalid_credentials',
      'invalid_credentials',
      'rate_limited',
      'session_revoked',
    ])
  })
})
