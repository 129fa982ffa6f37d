import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { figure } from './figures.js'
import { type Grant, grantOf, type Host, type Login, outcomeOf } from './host-client.js'
import { stoppedAt } from './moving-clock.js'
import { sizes } from './sizes.js'
import { at, describeOn, type OpenHosts, openHosts } from './stores.js'

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
/** A whole second, so that lifetimes end on one. */
const noon = Date.UTC(2031, 4, 1, 12)
const accessTtl = 15 * minute
const idle = 7 * day
const cap = 200 * hour
const grace = 10 * second

/**
 * Two processes with stopped clocks. `here` mints with the right time; `there` judges, some seconds
 * ahead of it or behind. Everything is told by `age`: what `there` takes to be the time since noon.
 */
describeOn('postgres', 'figure R16: two processes whose clocks differ, postgres', () => {
  describe.each([0, 60])('clockLeeway %i', (clockLeeway) => {
    let open: OpenHosts | undefined
    let here: Host
    let there: Host
    let decisions = 0
    beforeAll(async () => {
      open = await openHosts('postgres', 2, {
        clock: stoppedAt(noon),
        options: { clockLeeway, sweep: false, settings: { sessionAbsoluteTTL: '200h' } },
      })
      here = at(open.hosts, 0)
      there = at(open.hosts, 1)
    })
    afterAll(() => open?.close())

    async function setClocks(age: number, skewSeconds = 0): Promise<void> {
      await here.control('setClock', stoppedAt(noon + age - skewSeconds * second))
      await there.control('setClock', stoppedAt(noon + age))
    }

    async function loginAtNoon(): Promise<Login> {
      await setClocks(0)
      return here.newLogin()
    }

    /** Every skew with every age that can be: nobody asks before the login. */
    async function decide(
      ages: readonly number[],
      decision: (skew: number, age: number) => Promise<void>,
    ): Promise<void> {
      for (const skew of sizes.skews) {
        for (const age of ages.filter((it) => it >= skew * second)) await decision(skew, age)
      }
    }

    function expectOutcome(skew: number, age: number, outcome: string, expected: string): void {
      expect({ skew, age, outcome }).toEqual({ skew, age, outcome: expected })
      decisions += 1
    }

    it('an access token counts from 60 s before it was issued until it expires, by the clock of who checks it', async () => {
      const last = accessTtl + clockLeeway * second
      const ages = [
        -60_001,
        -60_000,
        0,
        accessTtl - 1,
        accessTtl,
        accessTtl + 59_999,
        last - 1,
        last,
      ]
      await decide([...ages, accessTtl + 60_000], async (skew, age) => {
        const { accessToken } = await loginAtNoon()
        await setClocks(age, skew)
        const expected = age >= -60_000 && age < last ? '200' : '401'
        expectOutcome(skew, age, outcomeOf(await there.me(accessToken)), expected)
      })
    })

    it('the idle window ends by the clock of the process that is asked, leeway or not', async () => {
      await decide([idle - 1, idle, idle + 59_999], async (skew, age) => {
        const { refreshToken } = await loginAtNoon()
        await setClocks(age, skew)
        const reply = await there.refresh(refreshToken)
        const expected = age < idle ? '200 rotated' : '401 refresh_token_expired'
        expectOutcome(skew, age, outcomeOf(reply), expected)
        // The new window begins by the same clock.
        if (age < idle) expect(reply.setCookies[0]).toContain(`Max-Age=${idle / second};`)
      })
    })

    it('a refresh token from more than a minute ahead is 503, and nothing is ended by that', async () => {
      await decide([-300_000, -60_001, -60_000, -1], async (skew, age) => {
        const { refreshToken } = await loginAtNoon()
        await setClocks(age, skew)
        const isEarly = age < -60_000
        const expected = isEarly ? '503 session_enforcement_unavailable' : '200 rotated'
        expectOutcome(skew, age, outcomeOf(await there.refresh(refreshToken)), expected)
        if (!isEarly) return
        await setClocks(0, skew)
        expect(outcomeOf(await there.refresh(refreshToken))).toBe('200 rotated')
      })
    })

    it('the maximum age is reached by the clock of the process that is asked, and then for good', async () => {
      await decide([cap, cap + 1], async (skew, age) => {
        const login = await loginAtNoon()
        // Once on the way, or the idle window would end first.
        await setClocks(4 * day)
        const { refreshToken } = grantOf(await here.refresh(login.refreshToken))
        await setClocks(age, skew)
        const over = '401 session_max_age_reached'
        const expected = age > cap ? over : '200 rotated'
        expectOutcome(skew, age, outcomeOf(await there.refresh(refreshToken)), expected)
        if (age <= cap) return
        await setClocks(age - hour, skew)
        const after = await Promise.all([here.refresh(refreshToken), there.refresh(refreshToken)])
        expect(after.map(outcomeOf)).toEqual([over, over])
      })
    })

    it('the grace is ten seconds between the two clocks: ten seconds minus the skew, of true time', async () => {
      await decide([-minute, 0, grace - 1, grace, grace + 1], async (skew, age) => {
        const { refreshToken } = await loginAtNoon()
        grantOf(await here.refresh(refreshToken))
        await setClocks(age, skew)
        const waited = age - skew * second
        const expected = age < grace ? '200 reissued' : '401 refresh_token_reused'
        expectOutcome(skew, age, outcomeOf(await there.refresh(refreshToken)), expected)
        // The bound: the grace, give or take what the clocks differ by.
        const off = Math.abs(skew) * second
        if (age < grace) expect(waited).toBeLessThan(grace + off)
        else expect(waited).toBeGreaterThanOrEqual(grace - off)
      })
    })

    it('what was ended stays ended, however the clocks step', async () => {
      for (const skew of sizes.skews) {
        const login = await loginAtNoon()
        const grants: Grant[] = [login, grantOf(await here.refresh(login.refreshToken))]
        await setClocks(skew * second, skew)
        expect(outcomeOf(await here.logout(login.accessToken))).toBe('204')
        for (const age of [0, -50_000, 300_000, -60_000, accessTtl - 1, minute]) {
          await setClocks(age, skew)
          const asked = [here, there].flatMap((host) =>
            grants.flatMap(({ accessToken, refreshToken }) => [
              host.me(accessToken),
              host.refresh(refreshToken),
            ]),
          )
          const outcomes = (await Promise.all(asked)).map(outcomeOf)
          // Refused for its end or for its time, never accepted.
          const early = '503 session_enforcement_unavailable'
          const refusals = ['401 session_revoked', '401', '401 refresh_token_invalid', early]
          expect(outcomes.filter((outcome) => !refusals.includes(outcome))).toEqual([])
          decisions += outcomes.length
        }
      }
    })

    it('and all of that is counted', () => {
      expect(decisions).toBeGreaterThan(100)
      figure(
        'R16',
        `clocks differ by −300 s to +300 s, clockLeeway ${clockLeeway}`,
        `${decisions} decisions about access, idle window, maximum age, grace and ended sessions, ` +
          'each as documented; the grace is 10 s minus the skew; nothing ended came back',
      )
    })
  })
})
