import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compact, type TestResults, trace } from '../../tools/trace.js'

const ids = ['R-1-01', 'R-1-02', 'R-1S-01', 'R-2.6-01', 'R-LIB-01']

const results = (
  ...tests: readonly (readonly [status: string, fullName: string])[]
): TestResults => ({
  testResults: [
    {
      name: 'a.test.ts',
      assertionResults: tests.map(([status, fullName]) => ({ status, fullName })),
    },
  ],
})

describe('trace', () => {
  it('counts ids of passed tests only, several in one title too', () => {
    const seen = trace(
      results(
        ['passed', 'login R-1-01, R-2.6-01: rehashes'],
        ['passed', 'R-1-01 again'],
        ['failed', 'R-1-02 fails'],
        ['skipped', 'R-1S-01 is skipped'],
      ),
      ids,
    )
    expect(seen.shown).toEqual(['R-1-01', 'R-2.6-01'])
    expect(seen.missing).toEqual(['R-1-02', 'R-1S-01', 'R-LIB-01'])
    expect(seen.unknown).toEqual([])
  })

  // The cases' own titles hold no ids: they are read by the tool under test.
  it.each([
    ['an id that is not in the list', 'R-9-99'],
    ['a missing digit', 'R-1-1'],
    ['a range with dots', 'R-1-01…02'],
    ['a range with a hyphen', 'R-1-01-02'],
    ['lower case', 'R-lib-01'],
  ])('reports as unknown: %s', (_name, id) => {
    expect(trace(results(['passed', `${id} does it`]), ids).unknown).toEqual([id])
    expect(trace(results(['skipped', `${id} does it`]), ids).unknown).toEqual([id])
  })

  it('reads an id at the end of a sentence', () => {
    expect(trace(results(['passed', 'shows (R-1-01). And R-LIB-01.']), ids).shown).toEqual([
      'R-1-01',
      'R-LIB-01',
    ])
  })

  it('prints missing ids one section a line', () => {
    expect(compact(ids)).toBe('  R-1: 01 02\n  R-1S: 01\n  R-2.6: 01\n  R-LIB: 01')
  })

  it('has the complete list of 321 requirements, each once', () => {
    const url = new URL('../../tools/requirement-ids.json', import.meta.url)
    const all: string[] = JSON.parse(readFileSync(url, 'utf8'))
    expect(all).toHaveLength(321)
    expect(new Set(all).size).toBe(321)
    expect(all.filter((id) => !/^R-(\d(\.\d)?[A-Z]?|LIB)-\d\d$/.test(id))).toEqual([])
  })
})
