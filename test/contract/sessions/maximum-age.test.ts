import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled } from '../../support/people/authenticator.js'
import { type SignedIn, signedInPerson, signIn, signInApp } from '../../support/people/people.js'
import {
  type Door,
  doorNames,
  heldAfter,
  refreshDoors,
  signedInFor,
} from '../../support/people/refresh-doors.js'
import { pass, sessionOf } from '../events/event-scenario.js'
import { type SettingsHost, settingsHost } from '../settings/settings-host.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const over = '401 session_max_age_reached'

eachStore.describe('the maximum age', (kind) => {
  eachSurface.describe((surface) => {
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const open = (settings: HostOptions['settings'] = {}) =>
      openHost({ ...withoutLimits, settings: { ...withoutLimits.settings, ...settings } }, kind)
    const use = (host: ContractHost, door: Door, held: SignedIn) =>
      refreshDoors[door](host, surface, held)
    const me = (host: ContractHost, { bearer }: Pick<SignedIn, 'bearer'>) =>
      host.send('GET', at('/me'), { bearer })
    const idOf = ({ refreshToken }: SignedIn): string => sessionOf(refreshToken)
    /** Access tokens are minted without a cap, so that they outlive the one that comes later. */
    const uncapped = () =>
      settingsHost({ settings: { sessionAbsoluteTTL: '', accessTokenTTL: '24h' } }, kind)
    const setCap = (host: SettingsHost, sessionAbsoluteTTL: string) =>
      host.set({ config: { sessionAbsoluteTTL } })
    /** What the three endpoints answer to a refresh token, each outcome once. */
    async function doorsTo(host: ContractHost, held: SignedIn): Promise<readonly string[]> {
      const outcomes = new Set<string>()
      for (const door of doorNames) outcomes.add(outcomeOf(await use(host, door, held)))
      return [...outcomes]
    }
    /** What a session is told, whatever it asks for. */
    async function outcomesOf(host: ContractHost, held: SignedIn): Promise<readonly string[]> {
      const { bearer } = held
      const replies = [
        await me(host, held),
        await host.send('PATCH', at('/me'), { bearer, body: { name: 'Eve' } }),
        await host.send('POST', at('/me/password'), { bearer, body: {} }),
      ]
      return [...new Set([...replies.map(outcomeOf), ...(await doorsTo(host, held))])]
    }

    it.each(doorNames)(
      'at the cap a session goes on at /%s, one millisecond later it is ended there',
      async (door) => {
        const host = await open({ sessionAbsoluteTTL: '3h' })
        const who = await signedInFor(door)(host, surface)
        const { families, sessions } = storedIn(host, surface)
        await pass(host, 3 * hour)
        const exactly = await use(host, door, who)
        expect(exactly.status).toBe(200)
        expect(await sessions.get(idOf(who))).toMatchObject({ active: true, endReason: null })
        const row = await families.get(idOf(who))
        await pass(host, 1)
        const ended = await use(host, door, heldAfter(door, surface, who, exactly))
        // A problem of four members: no token is among them.
        expectProblem(ended, 401, 'session_max_age_reached')
        for (const cookie of ended.setCookies) expect(cookie).toContain('Max-Age=0')
        const [revokedAt, endedAt] = [host.clock.now(), host.clock.now()]
        const revoked = { ...row, revokedAt, revokedReason: 'max_age' }
        expect(await families.get(idOf(who))).toEqual(revoked)
        const closed = { active: false, endReason: 'max_age', endedAt }
        expect(await sessions.get(idOf(who))).toMatchObject(closed)
      },
    )

    it.each(doorNames)(
      'ended at /%s, all its refresh tokens are revoked, and no token of another session',
      async (door) => {
        const settings = { sessionAbsoluteTTL: '3h', accessTokenTTL: '24h' }
        const host = await settingsHost({ settings }, kind)
        const [rotating, signInAgain] =
          door === 'refresh'
            ? (['refresh', signInApp] as const)
            : (['refresh-cookie', signIn] as const)
        const first = await signedInFor(door)(host, surface)
        const held: SignedIn[] = [first]
        let newest: SignedIn = first
        for (let hours = 1; hours < 3; hours += 1) {
          await pass(host, hour)
          newest = heldAfter(rotating, surface, newest, await use(host, rotating, newest))
          held.push(newest)
        }
        const other = await signInAgain(host, surface, first)
        await pass(host, hour + 1)
        expect(outcomeOf(await use(host, door, newest))).toBe(over)
        expect((await me(host, other)).status).toBe(200)

        // Without the cap, and once the denylist has forgotten the session, the row alone decides.
        await setCap(host, '')
        await pass(host, 24 * hour + minute + 1)
        for (const token of held) expect(await doorsTo(host, token)).toEqual([over])
        expect((await use(host, door, other)).status).toBe(200)
      },
    )

    it.each(doorNames)(
      'ended at /%s, its access token is refused by that name at once, until it expires',
      async (door) => {
        const host = await uncapped()
        const who = await signedInFor(door)(host, surface)
        const loggedOut = await signIn(host, surface, who)
        await host.send('POST', at('/logout'), { bearer: loggedOut.bearer })
        await pass(host, 2 * hour)
        await setCap(host, '1h')
        expect((await me(host, who)).status).toBe(200)
        expect(outcomeOf(await use(host, door, who))).toBe(over)
        const id = `${surface}:session:${idOf(who)}`
        const expiresAt = host.clock.now() + 24 * hour + minute
        expect(await host.backend.denylist.find([id])).toEqual([
          { id, reason: 'max_age', expiresAt },
        ])
        const told = async () => [await me(host, who), await me(host, loggedOut)].map(outcomeOf)
        expect(await told()).toEqual([over, '401 session_revoked'])
        await expect(host.auth[surface].authenticate(`Bearer ${who.bearer}`)).rejects.toMatchObject(
          { code: 'session_max_age_reached' },
        )
        await pass(host, 22 * hour - 1)
        expect(await told()).toEqual([over, '401 session_revoked'])
        await pass(host, 1)
        expect(await told()).toEqual(['401', '401'])
      },
    )

    it('the age counts from the login, whatever was done since', async () => {
      const host = await open({ sessionAbsoluteTTL: '3h' })
      const who = await enrolled(host, surface)
      const { families, sessions } = storedIn(host, surface)
      const login = await sessions.get(idOf(who))
      let held: SignedIn = who
      for (let hours = 1; hours <= 3; hours += 1) {
        await pass(host, hour)
        held = heldAfter('refresh-cookie', surface, held, await use(host, 'refresh-cookie', held))
        held = heldAfter('session', surface, held, await use(host, 'session', held))
        const proof = await host.send('POST', at('/step-up'), {
          bearer: held.bearer,
          body: { method: 'backupCode', code: who.backupCodes[hours] },
        })
        expect(proof.status).toBe(200)
        expect((await families.get(idOf(who)))?.loginAt).toBe(login?.loginAt)
        expect(await sessions.find({ userId: who.id }, { limit: 10 })).toEqual([login])
      }
      await pass(host, 1)
      expect(outcomeOf(await use(host, 'refresh-cookie', held))).toBe(over)
    })

    it('a session of maximum age is never called revoked and never goes on, whatever comes later', async () => {
      const host = await uncapped()
      const who = await signedInPerson(host, surface)
      const { cookie, bearer } = who
      const { terminateSession, terminateSessionsOf, users } = host.auth[surface]
      const { families, sessions } = storedIn(host, surface)
      await pass(host, 2 * hour)
      await setCap(host, '1h')
      expect(outcomeOf(await use(host, 'session', who))).toBe(over)
      const everywhere = { everywhere: true }
      const later: Readonly<Record<string, () => Promise<unknown>>> = {
        nothing: async () => {},
        'a longer cap': () => setCap(host, '720h'),
        'no cap': () => setCap(host, ''),
        'an administrative end': () => terminateSession(idOf(who)),
        'an administrative end of all': () => terminateSessionsOf(who.id),
        'a logout by cookie': () => host.send('POST', at('/logout'), { cookie }),
        'a logout by bearer': () => host.send('POST', at('/logout'), { bearer }),
        'a logout everywhere': () => host.send('POST', at('/logout'), { cookie, body: everywhere }),
        'a user switched off': () => users.update(who.id, { enabled: false }),
        'and on again': () => users.update(who.id, { enabled: true }),
        'a document that says otherwise': () =>
          sessions.update(idOf(who), { active: false }, { active: true, endedAt: null }),
      }
      for (const [what, happens] of Object.entries(later)) {
        await happens()
        expect([what, ...(await outcomesOf(host, who))]).toEqual([what, over])
      }
      expect(await families.get(idOf(who))).toMatchObject({ revokedReason: 'max_age' })
      const id = `${surface}:session:${idOf(who)}`
      expect(await host.backend.denylist.find([id])).toMatchObject([{ reason: 'max_age' }])
      // Long after its access token and the entry of the denylist.
      await pass(host, 3 * 24 * hour)
      expect(await doorsTo(host, who)).toEqual([over])
    })

    it.each(['before the cap', 'beyond the cap'] as const)(
      'what a logout ended %s is session_revoked from then on, however old it grows',
      async (when) => {
        const host = await uncapped()
        const logouts = {
          'by cookie': ({ cookie }: SignedIn) => ({ cookie }),
          'by bearer': ({ bearer }: SignedIn) => ({ bearer }),
          everywhere: ({ bearer }: SignedIn) => ({ bearer, body: { everywhere: true } }),
        }
        for (const [how, credentials] of Object.entries(logouts)) {
          await setCap(host, '')
          const who = await signedInPerson(host, surface)
          await pass(host, 2 * hour)
          if (when === 'beyond the cap') await setCap(host, '1h')
          const out = await host.send('POST', at('/logout'), credentials(who))
          expect([how, out.status]).toEqual([how, 204])
          await setCap(host, '1h')
          await pass(host, 12 * hour)
          expect([how, ...(await outcomesOf(host, who))]).toEqual([how, '401 session_revoked'])
          await pass(host, 3 * 24 * hour)
          expect(await doorsTo(host, who)).toEqual(['401 session_revoked'])
        }
      },
    )
  })
})
