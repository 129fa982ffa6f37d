import { describe, expect, it } from 'vitest'
import { skipProblems } from '../../tools/check-skips.js'

const results = (
  ...tests: readonly (readonly [file: string, title: string, status: string])[]
) => ({
  testResults: tests.map(([name, fullName, status]) => ({
    name,
    assertionResults: [{ fullName, status }],
  })),
})

describe('check-skips', () => {
  it('is content when every test of the subject ran, passed or not', () => {
    const run = results(
      ['a.test.ts', 'store on Postgres works', 'passed'],
      ['a.test.ts', 'store on Postgres fails', 'failed'],
      ['a.test.ts', 'store on Redis', 'skipped'],
    )
    expect(skipProblems(run, 'postgres')).toEqual([])
  })

  it('names what was skipped or left to do, by title and by file', () => {
    const run = results(
      ['a.test.ts', 'store on Postgres', 'skipped'],
      ['test/adapters/postgres.test.ts', 'migrates', 'pending'],
      ['a.test.ts', 'a POSTGRES todo', 'todo'],
      ['a.test.ts', 'postgres runs', 'passed'],
    )
    expect(skipProblems(run, 'postgres')).toEqual([
      'skipped: store on Postgres',
      'skipped: migrates',
      'skipped: a POSTGRES todo',
    ])
  })

  it('is not content when nothing of the subject ran', () => {
    expect(skipProblems(results(['a.test.ts', 'memory', 'passed']), 'postgres')).toEqual([
      'no test of postgres ran',
    ])
  })
})
