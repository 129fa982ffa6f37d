import { beforeAll, describe, expect, it } from 'vitest'
import type { Backend } from '../../src/ports/backend.js'
import type { Collection, Doc } from '../../src/ports/store.js'
import { always } from '../support/wrong/wrong-adapter.js'
import { type Exchange, type History, succeeded } from './history.js'
import { type PredicateName, predicates } from './predicates/index.js'
import { simulate } from './simulate.js'

const seeds = [1, 2, 3, 4, 5, 6, 7, 8]
const steps = 900

type Around = (backend: Backend) => Backend

/** What all seeds together say. */
async function played(around?: Around): Promise<readonly History[]> {
  const histories: History[] = []
  for (const seed of seeds) histories.push(await simulate(seed, steps, around))
  return histories
}

function judge(name: PredicateName, histories: readonly History[]) {
  const all = histories.map((history) => predicates[name](history))
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
  ['lifetimes', 5],
  ['oneChild', 50],
  ['replayEnds', 5],
  ['oneWinner', 5],
  ['voidLinks', 1],
  ['isolation', 300],
  ['noSecrets', 50],
  ['wayIn', 16],
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
    .filter(({ actor, ended }: Exchange) => !actor.includes('thief') && ended !== null)
  expect(owned.filter(succeeded).length / owned.length).toBeGreaterThan(0.4)
})

/** A backend whose collections of this name differ. */
function collections(
  name: string,
  twist: <T extends Doc>(right: Collection<T>) => Partial<Collection<T>>,
): Around {
  return (backend) => ({
    ...backend,
    store: {
      ...backend.store,
      collection(spec) {
        const right = backend.store.collection(spec)
        return spec.name === name ? { ...right, ...twist(right) } : right
      },
    },
  })
}

const forgetful: Around = (backend) => ({
  ...backend,
  denylist: { ...backend.denylist, find: async () => [] },
})

const eager: Around = (backend) => ({
  ...backend,
  denylist: {
    ...backend.denylist,
    find: async (ids) =>
      ids.map((id) => ({ id, reason: 'revoked', expiresAt: Number.MAX_SAFE_INTEGER })),
  },
})

/** Families move on whatever their guard says. */
const unguarded = collections('client_refresh_tokens', (right) => ({
  update: (id, _guard, set) => right.update(id, always(id), set),
}))

/** A new password leaves the links from before it alone. */
const sameEpoch = collections('client_users', (right) => ({
  async update(id, guard, set) {
    const seen = await right.get(id)
    if (!('credentialEpoch' in set) || seen === null) return right.update(id, guard, set)
    const same: unknown = Reflect.get(seen, 'credentialEpoch')
    return right.update(id, guard, { ...set, credentialEpoch: same })
  },
}))

/** Links stay when they are taken. */
const kept: Around = (backend) =>
  collections('client_tickets', (right) => ({ take: (id) => right.get(id) }))(sameEpoch(backend))

describe('a store that breaks its promise is noticed', () => {
  it.each([
    ['outMeansOut', 'a denylist that forgets', forgetful],
    ['replayEnds', 'a denylist that forgets', forgetful],
    ['inMeansIn', 'a denylist that lists everyone', eager],
    ['oneChild', 'rotations without a guard', unguarded],
    ['voidLinks', 'epochs of credentials that stay the same', sameEpoch],
    ['oneWinner', 'links that stay when they are taken', kept],
  ] as const)('by %s: %s', async (name, _what, around) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const { violations } = predicates[name](await simulate(seed, 2000, around))
      if (violations.length > 0) return
    }
    expect.unreachable('40 seeds of 2,000 steps showed nothing')
  })
})
