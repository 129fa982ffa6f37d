import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInApp,
  signIn,
  signInApp,
} from '../../support/people/people.js'
import {
  doorNames,
  heldAfter,
  refreshDoors,
  signedInFor,
} from '../../support/people/refresh-doors.js'
import { pass, sessionOf } from '../events/event-scenario.js'

const second = 1000
const hour = 60 * 60 * second
const day = 24 * hour
const reused = '401 refresh_token_reused'
const revoked = '401 session_revoked'
const invalid = '401 refresh_token_invalid'
const expired = '401 refresh_token_expired'
const over = '401 session_max_age_reached'

eachStore.describe('the states of a refresh token', (kind) => {
  eachSurface.describe((surface) => {
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const open = (settings: object = {}) =>
      openHost({ ...withoutLimits, settings: { ...withoutLimits.settings, ...settings } }, kind)
    const refresh = (host: ContractHost, held: SignedIn) =>
      refreshDoors.refresh(host, surface, held)
    const rowOf = (host: ContractHost, { refreshToken }: SignedIn) =>
      storedIn(host, surface).families.get(sessionOf(refreshToken))

    async function rotated(host: ContractHost, held: SignedIn): Promise<SignedIn> {
      const reply = await refresh(host, held)
      expect(reply.headers.get('x-refresh-outcome')).toBe('rotated')
      return heldAfter('refresh', surface, held, reply)
    }

    /** Refused with this at every presentation, and its row is left as it is. */
    async function expectFinal(host: ContractHost, held: readonly SignedIn[], outcome: string) {
      const rows = await Promise.all(held.map((one) => rowOf(host, one)))
      for (const one of held) expect(outcomeOf(await refresh(host, one))).toBe(outcome)
      expect(await Promise.all(held.map((one) => rowOf(host, one)))).toEqual(rows)
    }

    /** The predecessor: re-issued within the grace, replay outside it, which ends the whole family. */
    async function expectReplay(host: ContractHost, graceMs: number): Promise<void> {
      const first = await signedInApp(host, surface)
      const second = await rotated(host, first)
      if (graceMs > 0) {
        const row = await rowOf(host, first)
        await pass(host, graceMs - 1)
        const again = await refresh(host, first)
        expect(again.headers.get('x-refresh-outcome')).toBe('reissued')
        expect(await rowOf(host, first)).toEqual(row)
        await pass(host, 1)
      }
      expect(await rowOf(host, first)).toMatchObject({ generation: 2, revokedAt: null })
      expect(outcomeOf(await refresh(host, first))).toBe(reused)
      expect(await rowOf(host, first)).toMatchObject({ revokedReason: 'replay' })
      const sid = sessionOf(first.refreshToken)
      const session = await storedIn(host, surface).sessions.get(sid)
      expect(session).toMatchObject({ active: false, endReason: 'replay' })
      const listed = await host.backend.denylist.find([`${surface}:session:${sid}`])
      expect(listed).toMatchObject([{ reason: 'revoked' }])
      await expectFinal(host, [first, second], revoked)
    }

    /** Of two who use one token at once, one wins; the other comes too late. */
    async function expectRace(host: ContractHost, graceMs: number): Promise<void> {
      const who = await signedInApp(host, surface)
      const replies = await Promise.all([refresh(host, who), refresh(host, who)])
      const outcomes = replies.map((reply) => reply.headers.get('x-refresh-outcome'))
      expect(outcomes.toSorted()).toEqual(
        graceMs > 0 ? ['reissued', 'rotated'] : ['rotated', null].toSorted(),
      )
      const reason = graceMs > 0 ? null : 'replay'
      expect(await rowOf(host, who)).toMatchObject({ generation: 2, revokedReason: reason })
      if (graceMs === 0) expect(replies.map(outcomeOf).toSorted()).toEqual(['200', reused])
    }

    /** What ends a session, by the reason that it leaves in the row. */
    const endings: Readonly<
      Record<string, (host: ContractHost, who: Person & SignedIn) => Promise<unknown>>
    > = {
      logout: (host, { bearer }) => host.send('POST', at('/logout'), { bearer }),
      admin: (host, { refreshToken }) =>
        host.auth[surface].terminateSession(sessionOf(refreshToken)),
      limit: (host, who) => signIn(host, surface, who),
      async password_change(host, who) {
        const body = { currentPassword: who.password, newPassword: otherPassword }
        const { bearer } = await signInApp(host, surface, who)
        await host.send('POST', at('/me/password'), { bearer, body })
      },
      async max_age(host, who) {
        await pass(host, 3 * hour + 1)
        await refresh(host, who)
      },
    }

    it.each([
      ['0s', 0],
      ['10s', 10 * second],
    ])(
      'active, rotated, revoked and expired follow one another as they should, with a grace of %s',
      async (refreshReuseGrace, graceMs) => {
        const host = await open({ refreshReuseGrace, sessionAbsoluteTTL: '3h' })
        const limited = await open({ refreshReuseGrace, maxConcurrentSessions: 1 })
        for (const [reason, end] of Object.entries(endings)) {
          const on = reason === 'limit' ? limited : host
          const before = await signedInApp(on, surface)
          // A session of the same second is not the older one.
          await pass(on, second)
          const held = await rotated(on, before)
          expect(await rowOf(on, held)).toMatchObject({ generation: 2, revokedReason: null })
          await end(on, { ...before, ...held })
          expect(await rowOf(on, held)).toMatchObject({ generation: 2, revokedReason: reason })
          await expectFinal(on, [held, before], reason === 'max_age' ? over : revoked)
        }
        await expectReplay(host, graceMs)
        await expectRace(host, graceMs)

        const uncapped = await open({ refreshReuseGrace, sessionAbsoluteTTL: '' })
        const old = await signedInApp(uncapped, surface)
        const held = await rotated(uncapped, old)
        const { families } = storedIn(uncapped, surface)
        await pass(uncapped, 7 * day)
        await expectFinal(uncapped, [old, held], expired)
        expect(uncapped.events.map(({ type }) => type)).not.toContain('refresh.replayDetected')
        await families.sweep(uncapped.clock.now() - 1, 10)
        expect(await rowOf(uncapped, held)).not.toBeNull()
        await families.sweep(uncapped.clock.now(), 10)
        await expectFinal(uncapped, [old, held], expired)
        expect(await rowOf(uncapped, held)).toBeNull()
      },
    )

    it.each(doorNames)('each state has a code of its own at /%s', async (door) => {
      const host = await open({ refreshReuseGrace: '0s', sessionAbsoluteTTL: '' })
      const capped = await open({ sessionAbsoluteTTL: '1h' })
      const rotating = door === 'session' ? 'refresh-cookie' : door
      const who = await signedInFor(door)(host, surface)
      const signInAgain = () => (door === 'refresh' ? signInApp : signIn)(host, surface, who)
      const ask = (held: SignedIn, on = host) => refreshDoors[door](on, surface, held)
      const showing = (token: string): SignedIn => ({
        ...who,
        refreshToken: token,
        cookie: who.cookie.replace(who.refreshToken, token),
      })

      const tampered = who.refreshToken.replace(/\.[^.]+$/, '.AAAA')
      for (const token of ['x', 'a.b.c', tampered, who.bearer]) {
        expectProblem(await ask(showing(token)), 401, 'refresh_token_invalid')
      }
      const rowless = await signInAgain()
      await storedIn(host, surface).families.take(sessionOf(rowless.refreshToken))
      expect(outcomeOf(await ask(rowless))).toBe(invalid)

      const twice = await signInAgain()
      const reply = await refreshDoors[rotating](host, surface, twice)
      const newest = heldAfter(rotating, surface, twice, reply)
      expect(outcomeOf(await ask(twice))).toBe(reused)
      expect([outcomeOf(await ask(newest)), outcomeOf(await ask(twice))]).toEqual([
        revoked,
        revoked,
      ])

      const out = await signInAgain()
      await host.send('POST', at('/logout'), { bearer: out.bearer })
      expect(outcomeOf(await ask(out))).toBe(revoked)
      const aged = await signedInFor(door)(capped, surface)
      await pass(capped, hour + 1)
      const told = [await ask(aged, capped), await ask(aged, capped)]
      expect(told.map(outcomeOf)).toEqual([over, over])

      await pass(host, 7 * day - second)
      expect(outcomeOf(await ask(who))).toBe('200')
      const idle = await signInAgain()
      await pass(host, 7 * day)
      expect(outcomeOf(await ask(idle))).toBe(expired)
    })
  })
})
