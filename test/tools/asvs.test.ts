import { describe, expect, it } from 'vitest'
import { asvsLines, judgeAsvs } from '../../tools/asvs.js'
import { asvsPage } from '../../tools/asvs-page.js'
import { readAsvsTable } from '../../tools/asvs-table.js'
import { listedResults, type TestResults } from '../../tools/trace-tests.js'

const ids = ['2.1.1', '7.3.2', '7.4.1']

const head = [
  '## V7',
  '',
  '| id | level | owner | requirement | test or standing | title or reason |',
]

const rows = {
  first: '| 2.1.1 | 1 | library | Rules are published | open | Not written yet. |',
  second: '| 7.3.2 | 2 | shared | Sessions end | test/a.test.ts | sessions ASVS-7.3.2 end |',
  third: '| 7.4.1 | 3 | library | They stay ended | void | There are none. |',
}

const tableOf = (...lines: readonly string[]) =>
  readAsvsTable(['## V2', rows.first, ...head, '| --- |', ...lines].join('\n'))

const whole = tableOf(rows.second, rows.third)

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

const passed = results(['passed', 'sessions ASVS-7.3.2 end'])

describe('judgeAsvs', () => {
  it('counts the rows whose test passed, and finds nothing wrong with a whole table', () => {
    const verdict = { shown: ['7.3.2'], listed: false, problems: [] }
    expect(judgeAsvs(passed, whole, ids)).toEqual(verdict)
  })

  it.each([
    ['a row that is missing', passed, tableOf(rows.second), '7.4.1 has no row'],
    [
      'a row that needs none',
      passed,
      tableOf(rows.second, rows.third, '| 7.9.9 | 1 | library | x | void | y |'),
      'a row for an id that needs none: 7.9.9',
    ],
    [
      'a test that failed',
      results(['failed', 'sessions ASVS-7.3.2 end']),
      whole,
      'ASVS-7.3.2: failed: test/a.test.ts "sessions ASVS-7.3.2 end"',
    ],
    [
      'a test that was skipped',
      results(['skipped', 'sessions ASVS-7.3.2 end']),
      whole,
      'ASVS-7.3.2: skipped: test/a.test.ts "sessions ASVS-7.3.2 end"',
    ],
    [
      'a test that is not there',
      results(['passed', 'sessions ASVS-7.3.2 begin']),
      whole,
      'ASVS-7.3.2: test/a.test.ts has no test "sessions ASVS-7.3.2 end"',
    ],
    [
      'a test without the id',
      results(['passed', 'sessions end']),
      tableOf('| 7.3.2 | 2 | shared | Sessions end | test/a.test.ts | sessions end |', rows.third),
      'ASVS-7.3.2: the title does not carry it: test/a.test.ts "sessions end"',
    ],
    [
      'an unknown id in a title',
      results(['passed', 'sessions ASVS-7.3.2 end'], ['passed', 'ASVS-7.3.99 x']),
      whole,
      'a title names an unknown requirement: ASVS-7.3.99',
    ],
    [
      'an id that is spelled otherwise in a title',
      results(['passed', 'sessions ASVS-7.3.2 end'], ['passed', 'ASVS 7.4.1 x']),
      whole,
      'a title names an unknown requirement: ASVS 7.4.1',
    ],
    [
      'more ids than four in a title',
      results(
        ['passed', 'sessions ASVS-7.3.2 end'],
        ['passed', 'ASVS-2.1.1 ASVS-7.3.2 ASVS-7.4.1 ASVS-7.4.2 ASVS-7.4.3 x'],
      ),
      tableOf(
        rows.second,
        rows.third,
        '| 7.4.2 | 1 | host | x | void | y |',
        '| 7.4.3 | 1 | host | x | void | y |',
      ),
      'a title has more than 4 ids: "ASVS-2.1.1 ASVS-7.3.2 ASVS-7.4.1 ASVS-7.4.2 ASVS-7.4.3 x"',
    ],
    [
      'a row twice',
      passed,
      tableOf(rows.second, rows.third, rows.third),
      'line 9: 7.4.1 has a row already',
    ],
    [
      'a row in another section',
      passed,
      tableOf(rows.second, rows.third, '| 8.1.1 | 1 | host | x | void | y |'),
      'line 9: 8.1.1 stands in the section V7',
    ],
    [
      'a word that is no standing',
      passed,
      tableOf(rows.second, rows.third, '| 7.5.1 | 1 | host | x | maybe | y |'),
      'line 9: a row is | id | level | owner | requirement | test/….test.ts or a standing | title or reason |',
    ],
    [
      'a row without a reason',
      passed,
      tableOf(rows.second, rows.third, '| 7.5.1 | 1 | host | x | void |  |'),
      'line 9: a row is | id | level | owner | requirement | test/….test.ts or a standing | title or reason |',
    ],
  ])('reports %s', (_what, run, table, problem) => {
    expect(judgeAsvs(run, table, ids).problems).toEqual([problem])
  })
})

describe('what is printed', () => {
  const ran = (...shown: readonly string[]) => ({ shown, listed: false })

  it('claims no passing test where the tests were listed, not run', () => {
    const list = listedResults([
      { file: '/home/ada/postern/test/a.test.ts', name: 'sessions ASVS-7.3.2 end' },
    ])
    const verdict = judgeAsvs(list, whole, ids)
    expect(verdict).toEqual({ shown: ['7.3.2'], listed: true, problems: [] })
    expect(asvsLines(whole, verdict)[0]).toBe('ASVS 5.0, with a test: L1 0/1 · L2 1/1 · L3 0/1')
  })

  it('counts what a test shows by level, and names apart what none shows', () => {
    expect(asvsLines(whole, ran('7.3.2'))).toEqual([
      'ASVS 5.0, shown by a passing test: L1 0/1 · L2 1/1 · L3 0/1',
      'without a test, with the reason in docs/asvs.md: void 1 · deviation 0 · the host’s part 0 · not yet 1',
      'not yet: 2.1.1',
    ])
  })

  it('counts no row of the host alone', () => {
    const more = tableOf(rows.second, rows.third, '| 7.5.1 | 1 | host | x | test/a.test.ts | y |')
    expect(asvsLines(more, ran('7.3.2', '7.5.1'))).toEqual(asvsLines(whole, ran('7.3.2')))
  })

  it('is a page with each row, its test or its reason', () => {
    const text = asvsPage(whole)
    expect(text).toContain('| 7.3.2 | 2 | Sessions end | shared | `test/a.test.ts`: sessions end |')
    expect(text).toContain(
      '| 2.1.1 | 1 | Rules are published | library | **not yet:** Not written yet. |',
    )
    expect(text).toContain('| level 2 | 1 | 1 |')
  })
})
