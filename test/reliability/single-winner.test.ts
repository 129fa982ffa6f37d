import { expect, it, onTestFinished } from 'vitest'
import type { Reply } from '../support/hosts/http-client.js'
import { figure } from './figures.js'
import { type Circumstances, type Grant, grantOf, type Host, outcomeOf } from './host-client.js'
import { sizes } from './sizes.js'
import { at, describeOn, openHosts, patient, type StoreName, stores } from './stores.js'

const racers = 64
const rounds = sizes.singleWinnerRounds

async function fourHosts(store: StoreName, refreshReuseGrace: string): Promise<readonly Host[]> {
  const { hosts, close } = await openHosts(store, 4, {
    options: { settings: { refreshReuseGrace }, backendTimeout: patient },
  })
  onTestFinished(close)
  return hosts
}

/** Refreshes one token 64 times at once, evenly over the hosts. None may fail to answer. */
async function race(hosts: readonly Host[], { refreshToken }: Grant): Promise<readonly Reply[]> {
  const replies = await Promise.all(
    Array.from({ length: racers }, (_, index) => at(hosts, index).refresh(refreshToken)),
  )
  if (replies.some(({ status }) => status >= 500)) {
    const states = await Promise.all(hosts.map((host) => host.control('state', null)))
    expect.fail(states.flatMap(({ errors }) => errors).join('\n'))
  }
  return replies
}

/** `63 × 200 reissued, 1 × 200 rotated` */
function summary(replies: readonly Reply[]): string {
  const counts = new Map<string, number>()
  for (const outcome of replies.map(outcomeOf)) {
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  return [...counts]
    .sort()
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ')
}

for (const store of [...stores, 'redis'] as const) {
  const processes = store === 'memory' ? '4 instances' : '4 processes'

  describeOn(
    store,
    `figure R1: ${racers} refresh one token at once, ${processes} on ${store}`,
    () => {
      it(`with a grace of 10 s one rotates and 63 are re-issued its generation, ${rounds} rounds`, async () => {
        const hosts = await fourHosts(store, '10s')
        let grant: Grant = await at(hosts, 0).newLogin()
        const began = performance.now()
        for (let round = 0; round < rounds; round += 1) {
          const replies = await race(hosts, grant)
          expect(summary(replies)).toBe('63 × 200 reissued, 1 × 200 rotated')
          const grants = replies.map(grantOf)
          const generations = new Set(grants.map(({ generation }) => generation))
          expect([...generations]).toEqual([grant.generation + 1])
          // Any of the 64 goes on, so each must be as good as the winner's.
          grant = at(grants, round * 7)
        }
        const perSecond = (rounds * racers) / ((performance.now() - began) / 1000)
        figure(
          'R1',
          `one rotation per token on ${store}, grace 10s`,
          `${rounds} rounds of ${racers} over ${processes}: 1 rotated and 63 re-issued of one ` +
            `generation in every round, 0 forks, 0 5xx (${perSecond.toFixed(0)} refreshes/s)`,
        )
      }, 600_000)

      it(`without grace at most one succeeds and the family is dead, ${rounds} rounds`, async () => {
        const hosts = await fourHosts(store, '0s')
        let won = 0
        for (let round = 0; round < rounds; round += 1) {
          const login = await at(hosts, round).newLogin()
          const replies = await race(hosts, login)
          const winners = replies.filter(({ status }) => status === 200)
          expect(winners.length).toBeLessThanOrEqual(1)
          const late = racers - winners.length - 1
          expect(summary(replies.filter(({ status }) => status !== 200))).toBe(
            `1 × 401 refresh_token_reused, ${late} × 401 session_revoked`,
          )
          won += winners.length
          const other = at(hosts, round + 1)
          for (const { accessToken, refreshToken } of [login, ...winners.map(grantOf)]) {
            const after = await Promise.all([other.me(accessToken), other.refresh(refreshToken)])
            expect(after.map(outcomeOf)).toEqual(['401 session_revoked', '401 session_revoked'])
          }
        }
        figure(
          'R1',
          `one rotation per token on ${store}, no grace`,
          `${rounds} rounds of ${racers} over ${processes}: ${won} successes, never 2 in a round; ` +
            '1 alarm in every round, the family dead on the other processes; 0 forks, 0 5xx',
        )
      }, 600_000)
    },
  )
}

/** Milliseconds: longer than the grace of 10 s. */
const later = 11_000

for (const store of ['memory', 'postgres', 'redis', 'mongo'] as const) {
  describeOn(store, `sixteen holders of a token whose successor got lost, on ${store}`, () => {
    /** Replies get lost for good: nobody shows what they brought. */
    async function lost(hosts: readonly Host[]) {
      const login = await at(hosts, 0).newLogin()
      expect(outcomeOf(await at(hosts, 1).refresh(login.refreshToken, login))).toBe('200 rotated')
      return login
    }

    const together = (hosts: readonly Host[], token: string, given: readonly Circumstances[]) =>
      Promise.all(given.map((each, index) => at(hosts, index).refresh(token, each)))

    it('on one device: each time one rotates and fifteen are re-issued its generation', async () => {
      const hosts = await fourHosts(store, '10s')
      const { refreshToken, recognition, generation } = await lost(hosts)
      const alive: Grant[] = []
      for (let round = 1; round <= 5; round += 1) {
        const held = { recognition, aheadMs: round * later }
        const replies = await together(hosts, refreshToken, Array(16).fill(held))
        expect(summary(replies)).toBe('15 × 200 reissued, 1 × 200 rotated')
        const grants = replies.map(grantOf)
        expect(new Set(grants.map((each) => each.generation))).toEqual(
          new Set([generation + 1 + round]),
        )
        alive.push(at(grants, round))
      }
      const strangers = { aheadMs: 5 * later }
      const retired = at(alive, 3).refreshToken
      const newest = at(alive, 4).refreshToken
      expect(outcomeOf(await at(hosts, 0).refresh(retired, strangers))).toBe('200 reissued')
      const after = { aheadMs: 6 * later }
      expect(outcomeOf(await at(hosts, 1).refresh(retired, after))).toBe('401 refresh_token_reused')
      for (const each of [{ ...after, recognition }, after]) {
        expect(outcomeOf(await at(hosts, 2).refresh(newest, each))).toBe('401 session_revoked')
      }
    })

    it('on two devices: whoever comes first, nobody is served once the other device was told of replay', async () => {
      const hosts = await fourHosts(store, '10s')
      for (let round = 0; round < 5; round += 1) {
        const { refreshToken, recognition } = await lost(hosts)
        const own = { recognition, aheadMs: later }
        const other = { aheadMs: later }
        const holders = Array.from({ length: 16 }, (_, index) => (index % 2 === 0 ? own : other))
        const replies = await together(hosts, refreshToken, holders)
        const served = replies.filter(({ status }) => status === 200)
        const kinds = new Set(replies.map(outcomeOf))
        expect(served.filter((reply) => outcomeOf(reply) === '200 rotated').length).toBeLessThan(2)
        expect(new Set(served.map(grantOf).map(({ generation }) => generation)).size).toBeLessThan(
          2,
        )
        const isOver = kinds.has('401 refresh_token_reused')
        for (const { refreshToken: newest } of served.map(grantOf)) {
          const last = outcomeOf(await at(hosts, round).refresh(newest, own))
          expect(last).toMatch(isOver ? '401 session_revoked' : /^200/u)
        }
      }
    })
  })
}
