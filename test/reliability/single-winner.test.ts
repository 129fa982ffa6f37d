import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Reply } from '../support/http-client.js'
import { figure } from './figures.js'
import { type Grant, grantOf, outcomeOf } from './host-client.js'
import { sizes } from './sizes.js'
import { at, describeOn, type OpenHosts, openHosts, stores } from './stores.js'

const racers = 64
const rounds = sizes.singleWinnerRounds

/** `63 × 200 reissued, 1 × 200 rotated` */
function summary(outcomes: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const outcome of outcomes) counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  return [...counts]
    .sort()
    .map(([outcome, count]) => `${count} × ${outcome}`)
    .join(', ')
}

/** Fails with what the hosts logged when one of them could not answer. */
async function expectNo5xx(hosts: OpenHosts['hosts'], replies: readonly Reply[]): Promise<void> {
  const failed = replies.filter(({ status }) => status >= 500)
  if (failed.length === 0) return
  const states = await Promise.all(hosts.map((host) => host.control('state', null)))
  expect.fail(`${failed.length} × 5xx: ${states.flatMap(({ errors }) => errors).join('\n')}`)
}

for (const store of stores) {
  const processes = store === 'postgres' ? '4 processes' : '4 instances'

  describeOn(
    store,
    `figure R1: ${racers} at once refresh one token, ${processes} on ${store}`,
    () => {
      const opened: OpenHosts[] = []
      const hostsOf = async (refreshReuseGrace: string) => {
        const open = await openHosts(store, 4, { options: { settings: { refreshReuseGrace } } })
        opened.push(open)
        return open.hosts
      }
      afterAll(() => Promise.all(opened.map((open) => open.close())))

      let strict: OpenHosts['hosts'] = []
      let lenient: OpenHosts['hosts'] = []
      beforeAll(async () => {
        strict = await hostsOf('0s')
        lenient = await hostsOf('10s')
      })

      const race = (hosts: OpenHosts['hosts'], { refreshToken }: Grant) =>
        Promise.all(
          Array.from({ length: racers }, (_, index) => at(hosts, index).refresh(refreshToken)),
        )

      it(`R-1-18 R-1-15 with a grace of 10 s one rotates and 63 are re-issued its generation, ${rounds} rounds`, async () => {
        let grant: Grant = await at(lenient, 0).newLogin()
        const began = performance.now()
        for (let round = 0; round < rounds; round += 1) {
          const replies = await race(lenient, grant)
          await expectNo5xx(lenient, replies)
          expect(summary(replies.map(outcomeOf))).toBe('63 × 200 reissued, 1 × 200 rotated')
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

      it(`R-1-18 R-1-16 without grace at most one succeeds and the family is dead, ${rounds} rounds`, async () => {
        let won = 0
        for (let round = 0; round < rounds; round += 1) {
          const login = await at(strict, round).newLogin()
          const replies = await race(strict, login)
          await expectNo5xx(strict, replies)
          const winners = replies.filter(({ status }) => status === 200)
          expect(winners.length).toBeLessThanOrEqual(1)
          const losers = replies.filter(({ status }) => status !== 200).map(outcomeOf)
          const late = racers - winners.length - 1
          expect(summary(losers)).toBe(
            `1 × 401 refresh_token_reused, ${late} × 401 session_revoked`,
          )
          won += winners.length
          for (const { accessToken, refreshToken } of [login, ...winners.map(grantOf)]) {
            const other = at(strict, round + 1)
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
