import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { linkKinds } from '../../src/model/intents.js'
import { onDatabase } from '../support/stores/postgres.js'
import { figure } from './figures.js'
import { raceSettings, type SingleUse, singleUses } from './single-uses.js'
import { sizes } from './sizes.js'
import { at, describeOn, everyStore, type OpenHosts, openHosts, patient } from './stores.js'

const racers = 16
const rounds = sizes.singleUseRounds

describe('what may be used once', () => {
  it('has an entry for every kind of link', () => {
    const raced = new Set(singleUses.flatMap(({ purpose }) => purpose ?? []))
    expect([...raced].sort()).toEqual([...linkKinds].sort())
  })

  it('has no kind twice', () => {
    expect(new Set(singleUses.map(({ kind }) => kind)).size).toBe(singleUses.length)
  })
})

/** One round: the winners' number as the replies, or the hosts, tell it; and what each racer was answered. */
async function race(
  { hosts }: OpenHosts,
  use: SingleUse,
  round: number,
): Promise<{ readonly winners: number; readonly told: string }> {
  const { attempt, happened } = await use.prepare(at(hosts, round), round)
  await happened?.(hosts)
  const outcomes = await Promise.all(
    Array.from({ length: racers }, (_, racer) => attempt(at(hosts, racer), racer)),
  )
  const strange = outcomes.filter((outcome) => !use.won.test(outcome) && !use.lost.test(outcome))
  expect(strange, `round ${round}`).toEqual([])
  const won = outcomes.filter((outcome) => use.won.test(outcome)).length
  return { winners: (await happened?.(hosts)) ?? won, told: outcomes.join(', ') }
}

for (const store of everyStore) {
  const processes = store === 'memory' ? '2 instances' : '2 processes'

  describeOn(store, `figure R7: ${racers} racers, ${processes} on ${store}`, () => {
    const raced: string[] = []
    let open: OpenHosts
    beforeAll(async () => {
      const calm = { sweep: false, backendTimeout: patient } as const
      open = await openHosts(store, 2, {
        options: { trustProxy: 1, ...calm, settings: raceSettings },
      })
    })
    afterAll(() => open.close())

    if (store === 'postgres') {
      it('the database isolates no more than it does by default: read committed', async () => {
        await onDatabase(inject('postgresUrl') ?? '', async (client) => {
          const { rows } = await client.query('show transaction_isolation')
          expect(rows).toEqual([{ transaction_isolation: 'read committed' }])
        })
      })
    }

    it.each(singleUses)(
      '$kind has one winner in every round',
      async (use) => {
        for (let round = 0; round < rounds; round += 1) {
          const { winners, told } = await race(open, use, round)
          expect(winners, `winners of round ${round}: ${told}`).toBe(use.winners ?? 1)
        }
        raced.push(use.kind)
      },
      600_000,
    )

    it('all of these were raced', () => {
      expect(raced).toEqual(singleUses.map(({ kind }) => kind))
      figure(
        'R7',
        `what may be used once, on ${store}`,
        `${rounds} rounds of ${racers} racers over ${processes}: exactly one winner in every round ` +
          `(of guesses, as many as there are) for ${raced.join(', ')}`,
      )
    })
  })
}
