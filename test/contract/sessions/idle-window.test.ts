import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  type SignedIn,
  signedInApp,
  signedInPerson,
  signInApp,
} from '../../support/people/people.js'
import { type Door, heldAfter, refreshDoors } from '../../support/people/refresh-doors.js'
import { pass, sessionOf } from '../events/event-scenario.js'

const second = 1000
const hour = 60 * 60 * second
const day = 24 * hour
const expired = '401 refresh_token_expired'

eachStore.describe('the idle window', (kind) => {
  eachSurface.describe((surface) => {
    const use = (host: ContractHost, door: Door, held: SignedIn) =>
      refreshDoors[door](host, surface, held)
    const rowOf = (host: ContractHost, { refreshToken }: SignedIn) =>
      storedIn(host, surface).families.get(sessionOf(refreshToken))

    it.each([
      ['refresh', signedInApp],
      ['refresh-cookie', signedInPerson],
    ] as const)(
      'each /%s within the idle window rotates, and the next window is seven days from then',
      async (door, signedIn) => {
        const host = await openHost(withoutLimits, kind)
        const { sessions } = storedIn(host, surface)
        const people = [await signedIn(host, surface), await signedIn(host, surface)] as const
        const late = await signedIn(host, surface)
        await pass(host, 6 * day + 23 * hour)
        const next: SignedIn[] = []
        for (const who of people) {
          const reply = await use(host, door, who)
          expect([reply.status, reply.headers.get('x-refresh-outcome')]).toEqual([200, 'rotated'])
          const held = heldAfter(door, surface, who, reply)
          expect(held.refreshToken).not.toBe(who.refreshToken)
          const expiresAt = host.clock.now() + 7 * day
          expect(await rowOf(host, who)).toMatchObject({ generation: 2, expiresAt })
          const session = await sessions.get(sessionOf(who.refreshToken))
          expect(session).toMatchObject({ active: true, endReason: null })
          next.push(held)
        }
        const [one = late, other = late] = next
        await pass(host, hour - 1)
        expect(outcomeOf(await use(host, door, late))).toBe('200')
        // Neither the days of the first window that were left, nor seven from the login.
        await pass(host, 6 * day + 23 * hour)
        expect(outcomeOf(await use(host, door, one))).toBe('200')
        await pass(host, 1)
        expect(outcomeOf(await use(host, door, other))).toBe(expired)
      },
    )

    it('nothing but a refresh moves the idle deadline: used every day, a session is over after seven', async () => {
      const host = await openHost(withoutLimits, kind)
      const web = await signedInPerson(host, surface)
      const app = await signInApp(host, surface, web)
      const rows = [await rowOf(host, web), await rowOf(host, app)]
      const path = `/v1/auth/${surface}/me`
      for (let days = 1; days <= 7; days += 1) {
        await pass(host, day - second)
        const viewed = await use(host, 'session', web)
        expect([days, viewed.status]).toEqual([days, 200])
        const { bearer } = heldAfter('session', surface, web, viewed)
        const me = await host.send('PATCH', path, { bearer, body: { name: `Ada ${days}` } })
        expect([days, me.status]).toEqual([days, 200])
        await pass(host, second)
      }
      for (const [door, held] of [
        ['session', web],
        ['refresh-cookie', web],
        ['refresh', app],
      ] as const) {
        expectProblem(await use(host, door, held), 401, 'refresh_token_expired')
      }
      expect([await rowOf(host, web), await rowOf(host, app)]).toEqual(rows)
    })
  })
})
