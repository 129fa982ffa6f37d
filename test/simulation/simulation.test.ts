import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Decision, lineOf } from './decision.js'
import { type History, succeeded } from './history.js'
import { plants } from './plants.js'
import { type PredicateName, predicates } from './predicates/index.js'
import { preload } from './preload.js'
import { shrink } from './shrink.js'
import { replay, simulate, simulated } from './simulate.js'

interface Once {
  readonly what: string
  readonly predicate: PredicateName
  readonly seed: number
  readonly decisions: readonly Decision[]
}

const seeds: readonly Once[] = JSON.parse(
  readFileSync(new URL('seeds.json', import.meta.url), 'utf8'),
)

const drawn = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
const steps = 1200

function judge(name: PredicateName, histories: readonly History[]) {
  const all = histories.map((history) => predicates[name](history))
  return {
    premises: all.reduce((sum, { premises }) => sum + premises, 0),
    violations: all.flatMap(({ violations }) => violations),
  }
}

let histories: readonly History[] = []
beforeAll(async () => {
  await preload()
  await simulate(1, steps)
  const all: History[] = []
  for (const seed of drawn) all.push(await simulate(seed, steps))
  histories = all
})

it.each([
  ['outMeansOut', 20],
  ['inMeansIn', 100],
  ['lifetimes', 5],
  ['oneChild', 30],
  ['replayEnds', 5],
  ['oneWinner', 20],
  ['voidLinks', 1],
  ['isolation', 300],
  ['noSecrets', 50],
  ['secondFactor', 20],
  ['squatting', 2],
  ['guesses', 1],
  ['audit', 1],
  ['stolenSecrets', 1],
  ['configuration', 40],
  ['switchedOff', 1],
  ['wayIn', 16],
  ['oneGoesOn', 1],
  ['inOrder', 10],
  ['codeGuesses', 1],
  ['oneSession', 1],
  ['lostReplies', 20],
] as const)('%s holds in every history, and had something to say', (name, floor) => {
  const { premises, violations } = judge(name, histories)
  expect(violations).toEqual([])
  expect(premises).toBeGreaterThanOrEqual(floor)
})

it('plays the same history again for the same seed, and another one for another', async () => {
  const traces = histories.map(({ trace }) => trace)
  const again: string[] = []
  for (const seed of drawn) again.push((await simulate(seed, steps)).trace)
  expect(again).toEqual(traces)
  expect(new Set(traces).size).toBe(drawn.length)
})

it('plays the same history again by its decisions alone', async () => {
  const { history, decisions } = await simulated({ seed: 3, steps: 400 })
  // A step at which nothing was decided is none of the decisions, and counts in no order.
  const again = await replay({ seed: 3 }, decisions)
  expect(again.trace).toBe(history.trace)
})

it('lets owners succeed in four of ten requests at least', () => {
  const owned = histories
    .flatMap(({ exchanges }) => exchanges)
    .filter(({ foreign, ended }) => !foreign && ended !== null)
  expect(owned.filter(succeeded).length / owned.length).toBeGreaterThan(0.4)
})

/** The first history of a few that the predicate finds fault with. */
async function firstFault(name: PredicateName, plant: () => (typeof plants)[number][2]) {
  for (let seed = 1; seed <= 120; seed += 1) {
    const { history, decisions } = await simulated({ seed, steps: 2000, plant: plant()() })
    if (predicates[name](history).violations.length > 0) return { seed, decisions }
  }
  return expect.unreachable('120 seeds of 2,000 steps showed nothing')
}

describe('a promise that is broken below the library is noticed', () => {
  it.each(plants)('by %s: %s', async (name, _what, plant) => {
    await firstFault(name, () => plant)
  })
})

it('a history that went wrong is told by what it takes to go wrong', async () => {
  const [name, , plant] = plants[0] ?? expect.unreachable()
  const { seed, decisions } = await firstFault(name, () => plant)
  const isWrong = async (fewer: readonly Decision[]) =>
    predicates[name](await replay({ seed, plant: plant() }, fewer)).violations.length > 0
  const shrunk = await shrink(decisions, isWrong, 150)
  expect(await isWrong(shrunk)).toBe(true)
  expect(shrunk.length).toBeLessThan(decisions.length / 4)
  expect(shrunk.map(lineOf).join('\n')).toMatch(/begin \S.* login/)
})

it.each(seeds)('what once went wrong goes well: $what', async ({ predicate, seed, decisions }) => {
  const history = await replay({ seed }, decisions)
  expect(predicates[predicate](history).violations).toEqual([])
  expect(history.exchanges.length).toBeGreaterThan(2)
})
