import { beforeAll, expect, it } from 'vitest'
import type { Backend } from '../../src/ports/backend.js'
import { type Exchange, succeeded } from './history.js'
import { type PredicateName, predicates } from './predicates.js'
import { type History, simulate } from './simulate.js'

const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
const steps = 700

/** What all seeds together say. */
async function played(around?: (backend: Backend) => Backend): Promise<readonly History[]> {
  const histories: History[] = []
  for (const seed of seeds) histories.push(await simulate(seed, steps, around))
  return histories
}

function judge(name: PredicateName, histories: readonly History[]) {
  const all = histories.map(({ exchanges }) => predicates[name](exchanges))
  return {
    premises: all.reduce((sum, { premises }) => sum + premises, 0),
    violations: all.flatMap(({ violations }) => violations),
  }
}

let histories: readonly History[] = []
beforeAll(async () => {
  // What is loaded at first use comes from the disk, in its own time.
  await simulate(0, steps)
  histories = await played()
})

it.each([
  ['outMeansOut', 30],
  ['inMeansIn', 100],
  ['replayEnds', 5],
] as const)('%s holds in every history, and had something to say', (name, floor) => {
  const { premises, violations } = judge(name, histories)
  expect(violations).toEqual([])
  expect(premises).toBeGreaterThanOrEqual(floor)
})

it('plays the same history again for the same seed, and another one for another', async () => {
  const traces = histories.map(({ trace }) => trace)
  const again: string[] = []
  for (const seed of seeds) again.push((await simulate(seed, steps)).trace)
  expect(again).toEqual(traces)
  expect(new Set(traces).size).toBe(seeds.length)
})

it('lets owners succeed in four of ten requests at least', () => {
  const owned = histories
    .flatMap(({ exchanges }) => exchanges)
    .filter(({ actor, ended }: Exchange) => actor !== 'thief' && ended !== null)
  expect(owned.filter(succeeded).length / owned.length).toBeGreaterThan(0.4)
})

it('outMeansOut and replayEnds notice a denylist that forgets', async () => {
  const forgetful = await played((backend) => ({
    ...backend,
    denylist: { ...backend.denylist, find: async () => [] },
  }))
  expect(judge('outMeansOut', forgetful).violations).not.toEqual([])
  expect(judge('replayEnds', forgetful).violations).not.toEqual([])
})

it('inMeansIn notices a denylist that lists everyone', async () => {
  const eager = await played((backend) => ({
    ...backend,
    denylist: {
      ...backend.denylist,
      find: async (ids) =>
        ids.map((id) => ({ id, reason: 'revoked', expiresAt: Number.MAX_SAFE_INTEGER })),
    },
  }))
  expect(judge('inMeansIn', eager).violations).not.toEqual([])
})
