import { describe, expect, it } from 'vitest'
import { skipProblems, untestedOperations } from '../../tools/check-shelves.js'
import {
  countProblems,
  hasSentence,
  type Ledger,
  passedProblems,
  readLedger,
  sentenceOf,
} from '../../tools/ledger.js'
import { sharesOf } from '../../tools/run-shelf.js'
import { type ShelfResult, type TestResult, unionOf } from '../../tools/shelf-results.js'

const file = 'test/a.test.ts'
const row = { id: 'R-1-01', file, sentence: 'sessions end at once' }
const ran = (title: string, status: TestResult['status']): TestResult => ({ file, title, status })

describe('a row of the ledger', () => {
  const source = `
    eachSurface.describe('sessions', (surface) => {
      it('end at once', async () => {})
      it.each(kinds)('end for $kind, and %s times', () => {})
      it(\`end after \${rounds} rounds [\${surface}]\`, () => {})
    })`

  it.each([
    'sessions end at once',
    'sessions end for a thief, and 2 times',
    'sessions end after 5 rounds',
  ])('is found in the sources: %s', (sentence) => expect(hasSentence(source, sentence)).toBe(true))

  it('is not found once the test or a suite around it says something else', () => {
    expect(hasSentence(source.replace("'sessions'", "'users'"), 'sessions end at once')).toBe(false)
    expect(hasSentence(source, 'sessions end')).toBe(false)
    expect(hasSentence(source.replace('end at once', 'end soon'), 'sessions end at once')).toBe(
      false,
    )
  })

  it('names no cell of the matrix', () => {
    const title = 'refresh [express 4 on two memories] [client] rotates'
    expect(sentenceOf(title)).toBe('refresh rotates')
  })

  it('holds if its test passed in every cell that ran', () => {
    const both = [
      ran('sessions [operator] end at once', 'passed'),
      ran('sessions [client] end at once', 'passed'),
    ]
    expect(passedProblems([row], both, true)).toEqual([])
    const [first, second] = both
    if (first === undefined || second === undefined) throw new Error('two were written above')
    const failed = [first, { ...second, status: 'failed' as const }]
    expect(passedProblems([row], failed, true)).toEqual([
      'R-1-01: failed: test/a.test.ts "sessions end at once"',
    ])
  })

  it('does not hold if its test was skipped, or is no more', () => {
    expect(passedProblems([row], [ran('sessions end at once', 'skipped')], false)).toHaveLength(1)
    expect(passedProblems([row], [ran('sessions end', 'passed')], false)).toEqual([
      'R-1-01: test/a.test.ts ran no test "sessions end at once"',
    ])
  })

  it('is asked of a file that did not run only where everything should have', () => {
    expect(passedProblems([row], [], false)).toEqual([])
    expect(passedProblems([row], [], true)).toEqual(['R-1-01: test/a.test.ts did not run'])
  })
})

describe('the ledger', () => {
  const ledger = readLedger()

  it('has its rows and its reasons', () => expect(countProblems(ledger)).toEqual([]))

  it('loses no row, and no test to a reason', () => {
    const [[first] = ['']] = Object.entries(ledger.requirements)
    const { [first]: _, ...requirements } = ledger.requirements
    expect(countProblems({ ...ledger, requirements })).toEqual(['requirements: 320 rows of 321'])
    const reasoned = Object.entries(ledger.asvs).map(([id, { level, owner, requirement }]) => [
      id,
      { level, owner, requirement, standing: 'void', reason: 'It is not there.' },
    ])
    const without: Ledger = { ...ledger, asvs: Object.fromEntries(reasoned) }
    expect(countProblems(without)).toEqual([
      'asvs: 241 rows have a reason in place of a test, 15 may',
    ])
  })
})

describe('the results of shelves', () => {
  const result = (shelf: string, commit: string): ShelfResult => ({
    ...{
      shelf,
      commit,
      isShort: false,
      seconds: 1,
      cpuSeconds: 1,
      files: {},
      exercised: [`${shelf} 200`],
    },
    tests: [ran(shelf, 'passed')],
  })

  it('are read together', () => {
    const union = unionOf(['fast', 'stores'], (shelf) => result(shelf, 'a1'))
    expect(union.exercised).toEqual(['fast 200', 'stores 200'])
    expect(union.tests).toHaveLength(2)
  })

  it('are refused where they are of several commits, or one is missing', () => {
    const mixed = () => unionOf(['fast', 'stores'], (shelf) => result(shelf, shelf))
    expect(mixed).toThrow('fast of fast, stores of stores')
    expect(() => unionOf(['fast'], () => null)).toThrow('"fast" has not been run')
  })

  it('say what was skipped, and what nobody ran', () => {
    const tests = [ran('on redis', 'skipped'), ran('on mongo', 'passed')]
    expect(skipProblems(tests, 'mongo')).toEqual([])
    expect(skipProblems(tests, 'redis')).toEqual([
      'skipped: test/a.test.ts "on redis"',
      'no test of redis ran',
    ])
    const many = [ran('on mongo: a find of many gives', 'skipped'), ...tests]
    expect(skipProblems(many, 'mongo')).toEqual([])
    expect(
      skipProblems([ran('on sqlite: a find of many gives', 'skipped')], 'sqlite'),
    ).toHaveLength(2)
    expect(skipProblems(tests, 'mariadb')).toEqual(['no test of mariadb ran'])
  })

  it('say which operations never succeeded', () => {
    const responses = { 200: { description: '' }, 401: { description: '' } }
    const operation = (operationId: string) => ({ operationId, responses })
    const paths = { '/a': { get: operation('a'), post: operation('b') } }
    const document = { paths } as unknown as Parameters<typeof untestedOperations>[0]
    expect(untestedOperations(document, ['a 200', 'b 401'])).toEqual(['b'])
  })
})

describe('the shares of everything', () => {
  const seconds: Readonly<Record<string, number>> = { a: 90, b: 60, c: 50, d: 250, e: 10 }
  const shares = sharesOf(Object.keys(seconds), (name) => seconds[name] ?? 0, 120)

  it('are the whole together, each file once', () => {
    expect(shares.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  it('take no longer than they may, but for a file that alone takes longer', () => {
    expect(shares).toEqual([['d'], ['a', 'e'], ['b', 'c']])
  })
})
