import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { advisoryIds, promiseIds, standing } from '../../tools/advisories.js'
import type { TestResults } from '../../tools/trace-tests.js'

const page = readFileSync(new URL('../security/advisories.md', import.meta.url), 'utf8')
const rowsOf = (text: string) => text.split('\n').filter((line) => /^\| [A-Z]+-\d+ \|/.test(line))

/** Results in which every row's test passed, but for what is changed. */
function resultsOf(text: string, status = (_id: string) => 'passed'): TestResults {
  const testResults = rowsOf(text).map((line) => {
    const [, id = '', file = '', title = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim())
    const fullName = title.replaceAll('\\|', '|')
    return { name: `/home/ada/${file}`, assertionResults: [{ fullName, status: status(id) }] }
  })
  return { testResults }
}

describe('npm run advisories', () => {
  it('has 95 cases and 64 promises, each once on the page and in their order', () => {
    expect([advisoryIds.length, promiseIds.length]).toEqual([95, 64])
    const named = rowsOf(page).map((line) => line.split('|')[1]?.trim())
    expect(named).toEqual([...advisoryIds, ...promiseIds])
  })

  it('counts what a passing test shows, and tells what none does', () => {
    expect(standing(resultsOf(page), page)).toEqual({
      summary: 'advisories 95/95 · promises 64/64',
      missing: [],
      problems: [],
    })
    const failing = standing(
      resultsOf(page, (id) => (['SF-4', 'SP-64'].includes(id) ? 'failed' : 'passed')),
      page,
    )
    expect(failing.summary).toBe('advisories 94/95 · promises 63/64')
    expect(failing.problems).toHaveLength(2)
    expect(failing.problems[0]).toMatch(/^SF-4: failed: test\/security\/advisories\/matrix/)
  })

  it('takes a reason in place of a test, which it does not count, and misses a row that is gone', () => {
    const row = rowsOf(page).find((line) => line.startsWith('| SF-4 |')) ?? ''
    const reasoned = page.replace(row, '| SF-4 | – | There are no such tokens. |')
    const seen = standing(resultsOf(page), reasoned)
    expect([seen.summary, seen.missing]).toEqual(['advisories 94/95 · promises 64/64', []])
    expect(standing(resultsOf(page), page.replace(row, '')).missing).toEqual(['SF-4'])
    const both = page.replace(row, `${row}\n| SF-4 | – | There are none. |`)
    expect(standing(resultsOf(page), both).problems).toEqual(['SF-4 has a test and a reason'])
    const stray = page.replace(row, `${row}\n| SF-7 | – | There is none. |`)
    expect(standing(resultsOf(page), stray).problems).toEqual(['a reason for nothing: SF-7'])
  })

  it('reports a title that names no case there is', () => {
    const title = 'SF-9 does something'
    const { testResults } = resultsOf(page)
    const odd = {
      name: '/home/ada/test/a.test.ts',
      assertionResults: [{ fullName: title, status: 'passed' }],
    }
    expect(standing({ testResults: [...testResults, odd] }, page).problems).toEqual([
      'a title names an unknown requirement: SF-9',
    ])
  })
})
