import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  otherPassword,
  type Person,
  type SignedIn,
  signedInPerson,
  signIn,
} from '../../support/people/people.js'
import { doorNames, refreshDoors, signedInFor } from '../../support/people/refresh-doors.js'

const life = 24 * 60 * 60_000 + 60_000
const revoked = '401 session_revoked'
const tooOld = '401 session_max_age_reached'

const at = (surface: Surface, path: string): string => `/v1/auth/${surface}${path}`
const sidOf = ({ refreshToken }: SignedIn) => textOf(decodeJwt(refreshToken), 'sid')
const me = async (host: ContractHost, surface: Surface, bearer: string) =>
  outcomeOf(await host.send('GET', at(surface, '/me'), { bearer }))

eachSurface.describe('a logout', (surface) => {
  it.each(['the access token', 'the refresh cookie'])(
    'by %s ends every access token of its session at once, and no other session',
    async (by) => {
      const host = await openHost()
      const who = await signedInPerson(host, surface)
      const other = await signIn(host, surface, who)
      const { cookie } = who
      const again = await host.send('GET', at(surface, '/session'), { cookie })
      const second = textOf(again.json(), 'accessToken')
      const next = await host.send('POST', at(surface, '/refresh-cookie'), { cookie })
      const tokens = [who.bearer, second, textOf(next.json(), 'accessToken')]
      expect(new Set(tokens).size).toBe(3)
      for (const bearer of tokens) expect(await me(host, surface, bearer)).toBe('200')

      const shown = by === 'the access token' ? { bearer: second } : { cookie }
      const reply = await host.send('POST', at(surface, '/logout'), shown)
      expect(outcomeOf(reply)).toBe('204')
      for (const bearer of tokens) expect(await me(host, surface, bearer)).toBe(revoked)
      expect(await me(host, surface, other.bearer)).toBe('200')
    },
  )
})

type End = (host: ContractHost, surface: Surface, who: Person & SignedIn) => Promise<unknown>

/** Everything that puts a session on the denylist, and what its access token is refused with then. */
const ends: readonly (readonly [name: string, outcome: string, end: End])[] = [
  [
    'a logout',
    revoked,
    (host, surface, { bearer }) => host.send('POST', at(surface, '/logout'), { bearer }),
  ],
  [
    'a logout everywhere, by another session',
    revoked,
    async (host, surface, who) => {
      const { bearer } = await signIn(host, surface, who)
      return host.send('POST', at(surface, '/logout'), { bearer, body: { everywhere: true } })
    },
  ],
  [
    'an administrator',
    revoked,
    (host, surface, who) => host.auth[surface].terminateSession(sidOf(who)),
  ],
  [
    'the end of all sessions of the account',
    revoked,
    (host, surface, { id }) => host.auth[surface].terminateSessionsOf(id),
  ],
  [
    'another password',
    revoked,
    async (host, surface, who) => {
      const { bearer } = await signIn(host, surface, who)
      const body = { currentPassword: who.password, newPassword: otherPassword }
      return host.send('POST', at(surface, '/me/password'), { bearer, body })
    },
  ],
  [
    'a disabled account',
    revoked,
    (host, surface, { id }) => host.auth[surface].users.update(id, { enabled: false }),
  ],
  ['a deleted account', revoked, (host, surface, { id }) => host.auth[surface].users.delete(id)],
  [
    'a refresh token that comes a second time',
    revoked,
    async (host, surface, { cookie }) => {
      await host.send('POST', at(surface, '/refresh-cookie'), { cookie })
      return host.send('POST', at(surface, '/refresh-cookie'), { cookie })
    },
  ],
  [
    'a refresh after the maximum age',
    tooOld,
    async (host, surface, { cookie }) => {
      await host.clock.advance(60 * 60_000 + 1)
      return host.send('POST', at(surface, '/refresh-cookie'), { cookie })
    },
  ],
]

eachSurface.describe('the maximum age', (surface) => {
  it.each(doorNames)(
    'is named by the refresh at /%s that finds it, and by guarded routes from then on',
    async (door) => {
      const settings = { accessTokenTTL: '24h', sessionAbsoluteTTL: '1h' }
      // No access token outlives the maximum age by more than clocks may differ by.
      const host = await openHost({ clockLeeway: 60, settings })
      const who = await signedInFor(door)(host, surface)
      await host.clock.advance(60 * 60_000 + 1)
      expect(await me(host, surface, who.bearer)).toBe('200')
      expect(outcomeOf(await refreshDoors[door](host, surface, who))).toBe(tooOld)
      expect(await me(host, surface, who.bearer)).toBe(tooOld)
      // Not as a session that was signed out: the same name, at every door.
      for (const other of doorNames) {
        expect(outcomeOf(await refreshDoors[other](host, surface, who))).toBe(tooOld)
      }
      expect(await me(host, surface, who.bearer)).toBe(tooOld)
    },
  )
})

eachSurface.describe('an entry of the denylist', (surface) => {
  it.each(ends)(
    'is obeyed for 24 hours and one minute, to the millisecond: %s',
    async (_name, outcome, end) => {
      const host = await openHost({
        ...withoutLimits,
        // The longest life of an access token, and as much as clocks may differ by.
        clockLeeway: 60,
        settings: {
          ...withoutLimits.settings,
          accessTokenTTL: '24h',
          refreshReuseGrace: '0s',
          sessionAbsoluteTTL: '1h',
        },
      })
      const who = await signedInPerson(host, surface)
      await end(host, surface, who)
      await host.auth.close()
      const endedAt = host.clock.now()
      const id = `${surface}:session:${sidOf(who)}`
      const [entry] = await host.backend.denylist.find([id])
      expect(entry).toMatchObject({ id, expiresAt: endedAt + life })
      expect(await me(host, surface, who.bearer)).toBe(outcome)
      await host.clock.advance(life - 1)
      const [still] = await host.backend.denylist.find([id])
      expect(still?.expiresAt).toBeGreaterThan(host.clock.now())
      await host.clock.advance(1)
      const left = await host.backend.denylist.find([id])
      expect(left.filter(({ expiresAt }) => expiresAt > host.clock.now())).toEqual([])
    },
  )

  it('outlives every access token that it has to refuse', async () => {
    const settings = { accessTokenTTL: '24h' }
    const host = await openHost({ clockLeeway: 60, settings })
    const who = await signedInPerson(host, surface)
    await host.send('POST', at(surface, '/logout'), { bearer: who.bearer })
    await host.auth.close()
    await host.clock.advance(life - 1)
    expect(await me(host, surface, who.bearer)).toBe(revoked)
    await host.clock.advance(1)
    expect(await me(host, surface, who.bearer)).toBe('401')
  })
})
