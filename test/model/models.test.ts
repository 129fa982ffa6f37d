import { describe, expect, it } from 'vitest'
import { plants } from './plants.js'
import { searches } from './searches.js'
import {
  checkPlant,
  checkSearch,
  type Found,
  isSpinMissing,
  planted,
  readSearch,
  textOf,
  unreached,
} from './spin.js'

/** The verifier is stopped by its own limit of processor time; what waits is a machine with other work. */
const patience = 480_000
const models = ['refresh', 'intents'] as const

const finished = `
State-vector 28 byte, depth reached 9, errors: 0
   197483 states, stored
  1105474 transitions (= stored+matched)
  134.295\ttotal actual memory usage

unreached in proctype store
	model.pml:81, state 15, "-end-"
	(1 of 15 states)
unreached in proctype holder
	model.pml:9, state 3, "idled = 1"
unreached in init
	model.pml:99, state 4, "skip"

pan: elapsed time 1.28 seconds
`

describe('a search', () => {
  it('is read with what it did not carry out', () => {
    expect(readSearch(finished)).toEqual({
      states: 197483,
      seconds: 1.28,
      megabytes: 134.295,
      broken: null,
      incomplete: [],
      unreached: ['proctype holder, line 9 (3): idled = 1'],
      trail: [],
    })
  })

  it('is no result if it did not see every state, whatever it says of errors', () => {
    const signs = [
      'error: max search depth too small',
      'pan: reached -DMEMLIM bound',
      'pan: out of memory',
      'Warning: Search not completed',
    ]
    for (const sign of signs) {
      expect(readSearch(`${sign}\n${finished}`).incomplete).not.toEqual([])
    }
    expect(readSearch('Depth= 107 States= 1e+06').incomplete).not.toEqual([])
  })

  it('names what no search of a model carries out', () => {
    const other = { ...readSearch(finished), unreached: [] }
    expect(unreached([readSearch(finished), readSearch(finished)])).toHaveLength(1)
    expect(unreached([readSearch(finished), other])).toEqual([])
  })
})

describe('the models', () => {
  it.each(models)('%s is 250 lines at most, and its mistakes are ten at least', (model) => {
    expect(textOf(model).trimEnd().split('\n').length).toBeLessThanOrEqual(250)
    expect(plants.filter((plant) => plant.model === model).length).toBeGreaterThanOrEqual(10)
  })

  it('claim what their mistakes break, and nothing beside it', () => {
    for (const plant of plants.filter(({ search, breaks }) => search !== breaks)) {
      const claims = planted(plant)
        .split('\n')
        .filter((line) => line.includes('assert('))
      expect(claims.length, plant.name).toBeGreaterThan(0)
      for (const claim of claims) expect(claim).toContain(`/* ${plant.breaks} */`)
    }
  })
})

describe.skipIf(isSpinMissing)('models searched by spin', () => {
  describe.each(models)('%s', (model) => {
    const found: Found[] = []
    const own = searches.filter((search) => search.model === model)

    it.each(own)('holds in every state: $name', { timeout: patience }, async (search) => {
      const one = await checkSearch(search)
      expect([one.broken, one.incomplete, one.trail]).toEqual([null, [], []])
      if (search.eventually === undefined) found.push(one)
    })

    it('carries out each of its statements', () => {
      expect(found.length).toBeGreaterThan(0)
      expect(unreached(found)).toEqual([])
    })

    const wrong = plants.filter((plant) => plant.model === model)
    it.each(wrong)('is refuted: $name', { timeout: patience }, async (plant) => {
      const { broken } = await checkPlant(plant)
      expect(broken).toMatch(/^(assertion violated|acceptance cycle)/)
    })
  })
})
