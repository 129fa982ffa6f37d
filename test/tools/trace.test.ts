import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readRequirementTable } from '../../tools/requirement-table.js'
import { compact } from '../../tools/trace.js'
import { listedResults, type TestResults, trace } from '../../tools/trace-tests.js'

const ids = ['R-1-01', 'R-1-02', 'R-1S-01', 'R-2.6-01', 'R-LIB-01']

const results = (
  ...tests: readonly (readonly [status: string, fullName: string])[]
): TestResults => ({
  testResults: [
    {
      name: '/home/ada/postern/test/a.test.ts',
      assertionResults: tests.map(([status, fullName]) => ({ status, fullName })),
    },
  ],
})

/** Rows of chapter R-1, each for a test of `test/a.test.ts`. */
const table = (...rows: readonly (readonly [id: string, title: string])[]) =>
  readRequirementTable(
    ['## R-1', '', '| id | file | test |', '| --- | --- | --- |']
      .concat(rows.map(([id, title]) => `| ${id} | test/a.test.ts | ${title} |`))
      .join('\n'),
  )

const title = 'login R-1-01 rehashes'

describe('trace', () => {
  it('counts a requirement whose row names a test that passed, and lists those without a row', () => {
    const seen = trace(
      results(['passed', title], ['passed', 'R-1-02 x']),
      table(['R-1-01', title]),
      ids,
    )
    expect(seen).toEqual({
      shown: ['R-1-01'],
      missing: ['R-1-02', 'R-1S-01', 'R-2.6-01', 'R-LIB-01'],
      problems: [],
    })
  })

  it.each([
    ['a test that failed', results(['failed', title]), `R-1-01: failed: test/a.test.ts "${title}"`],
    [
      'one that was skipped',
      results(['skipped', title]),
      `R-1-01: skipped: test/a.test.ts "${title}"`,
    ],
    [
      'two of one title of which one failed',
      results(['passed', title], ['failed', title]),
      `R-1-01: failed: test/a.test.ts "${title}"`,
    ],
    [
      'a test of another title',
      results(['passed', `${title} again`]),
      `R-1-01: test/a.test.ts has no test "${title}"`,
    ],
    ['a file that did not run', { testResults: [] }, 'R-1-01: no test of test/a.test.ts ran'],
    [
      'the same title in a file of another folder',
      {
        testResults: results(['passed', title]).testResults.map((file) => ({
          ...file,
          name: '/home/ada/postern/test/room-test/a.test.ts',
        })),
      },
      'R-1-01: no test of test/a.test.ts ran',
    ],
  ])('does not count %s', (_what, run, problem) => {
    const seen = trace(run, table(['R-1-01', title]), ids)
    expect(seen.shown).toEqual([])
    expect(seen.problems).toEqual([problem])
  })

  it('does not count a test whose title does not carry the id', () => {
    const seen = trace(results(['passed', title]), table(['R-1-02', title]), ids)
    expect(seen.shown).toEqual([])
    expect(seen.problems).toEqual([
      `R-1-02: the title does not carry it: test/a.test.ts "${title}"`,
    ])
  })

  it('takes a title of several ids for each of them, up to four', () => {
    const four = 'R-1-01 R-1-02 R-1S-01 R-2.6-01 at once'
    expect(trace(results(['passed', four]), table(['R-1-02', four]), ids).problems).toEqual([])
    const five = `R-LIB-01 ${four}`
    const crowded = trace(results(['passed', five], ['skipped', five]), table(), ids)
    expect(crowded.problems).toEqual([`a title has more than 4 ids: "${five}"`])
    // The same one twice, as by a describe block, is one.
    const repeated = `R-1-01 ${four}`
    expect(trace(results(['passed', repeated]), table(), ids).problems).toEqual([])
  })

  // The cases' own titles hold no ids: they are read by the tool under test.
  it.each([
    ['an id that is not in the list', 'R-9-99'],
    ['a missing digit', 'R-1-1'],
    ['a range with dots', 'R-1-01…02'],
    ['a range with a hyphen', 'R-1-01-02'],
    ['lower case', 'R-lib-01'],
  ])('reports as unknown: %s', (_name, id) => {
    const problem = `a title names an unknown requirement: ${id}`
    for (const status of ['passed', 'skipped']) {
      expect(trace(results([status, `${id} does it`]), table(), ids).problems).toEqual([problem])
    }
    expect(trace(results(), table([id, `${id} does it`]), ids).problems).toContain(
      `a row for an unknown requirement: ${id}`,
    )
  })

  it('reads an id at the end of a sentence', () => {
    const sentence = 'shows (R-1-01). And R-1-02.'
    const rows = table(['R-1-01', sentence], ['R-1-02', sentence])
    expect(trace(results(['passed', sentence]), rows, ids).shown).toEqual(['R-1-01', 'R-1-02'])
  })

  it('finds the titles of a list as well as those of a run', () => {
    const list = [{ name: 'login > R-1-01 rehashes', file: '/home/ada/postern/test/a.test.ts' }]
    expect(trace(listedResults(list), table(['R-1-01', title]), ids).shown).toEqual(['R-1-01'])
  })

  it('prints ids one chapter a line', () => {
    expect(compact(ids)).toBe('  R-1: 01 02\n  R-1S: 01\n  R-2.6: 01\n  R-LIB: 01')
  })
})

describe('the table of requirements', () => {
  it('is read row by row, with a | of a title escaped', () => {
    const { rows, problems } = table(['R-1-01', 'R-1-01 a \\| b  c'])
    expect(rows).toEqual([{ id: 'R-1-01', file: 'test/a.test.ts', title: 'R-1-01 a | b c' }])
    expect(problems).toEqual([])
  })

  it.each([
    ['a row of two cells', '| R-1-01 | test/a.test.ts |'],
    ['a file that is no test', '| R-1-01 | src/a.ts | R-1-01 a |'],
    ['a row without its last bar', '| R-1-01 | test/a.test.ts | R-1-01 a'],
  ])('refuses %s', (_what, line) => {
    expect(readRequirementTable(`## R-1\n\n${line}`)).toEqual({
      rows: [],
      problems: ['line 3: a row is | id | test/….test.ts | full title |'],
    })
  })

  it('refuses a second row for a requirement, and a row in another chapter', () => {
    expect(table(['R-1-01', 'R-1-01 a'], ['R-1-01', 'R-1-01 b']).problems).toEqual([
      'line 6: R-1-01 has a row already',
    ])
    expect(table(['R-1S-01', 'R-1S-01 a']).problems).toEqual([
      'line 5: R-1S-01 stands in the section R-1',
    ])
  })

  it('has the complete list of 321 requirements, each once', () => {
    const url = new URL('../../tools/requirement-ids.json', import.meta.url)
    const all: string[] = JSON.parse(readFileSync(url, 'utf8'))
    expect(all).toHaveLength(321)
    expect(new Set(all).size).toBe(321)
    expect(all.filter((id) => !/^R-(\d(\.\d)?[A-Z]?|LIB)-\d\d$/.test(id))).toEqual([])
    const page = readFileSync(new URL('../requirements.md', import.meta.url), 'utf8')
    const { rows, problems } = readRequirementTable(page)
    expect(problems).toEqual([])
    expect(rows.map(({ id }) => id)).toEqual(all)
  })
})
