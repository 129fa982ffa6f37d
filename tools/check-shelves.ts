import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/openapi/index.js'
import type { OpenApiDocument } from '../src/openapi/types.js'
import { operationOptions } from '../src/operations/operation.js'
import { passedProblems, readLedger, shownRows } from './ledger.js'
import { storedResult, type TestResult, unionOf } from './shelf-results.js'

/** What CI must have tested: a store or a program that is missing skips its tests, and nothing else would tell. */
const subjects = 'postgres pgbouncer mariadb sqlite mongo redis chromium oathtool'.split(' ')
/** What a share may have, and then must have tested. */
const inShares = ['spin', 'nextjs', 'nginx', 'slow-clients'] as const

/** Stores that lack the optional calls for many documents, whose cases are skipped on them. */
const oneByOne = ['mongo', 'redis']
const ofMany = /: (a find|an insert|an update|inserts) of many |: a call for none, for too many /

/**
 * Why a run does not count as having tested `subject`: its skipped tests, or that it ran none. A test belongs to the
 * subject when its file or its title names it, in any case.
 */
export function skipProblems(
  tests: readonly TestResult[],
  subject: string,
  mayBeAbsent = false,
): readonly string[] {
  const own = tests.filter(({ file, title }) =>
    `${file} ${title}`.toLowerCase().includes(subject.toLowerCase()),
  )
  const isAbsent = (title: string) => oneByOne.includes(subject) && ofMany.test(title)
  const skipped = own.filter(({ status, title }) => status === 'skipped' && !isAbsent(title))
  const problems = skipped.map(({ file, title }) => `skipped: ${file} "${title}"`)
  if (mayBeAbsent && own.length === 0) return []
  return own.every(({ status }) => status === 'skipped')
    ? [...problems, `no test of ${subject} ran`]
    : problems
}

/**
 * Operations of the document that the contract suites never saw succeed, by their ids. `exercised` has lines such as
 * `clientLogin 200`.
 */
export function untestedOperations(
  document: OpenApiDocument,
  exercised: readonly string[],
): readonly string[] {
  const met = new Set(exercised)
  return Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .filter(({ operationId, responses }) =>
      Object.keys(responses)
        .filter((status) => Number(status) < 400)
        .every((status) => !met.has(`${operationId} ${status}`)),
    )
    .map(({ operationId }) => operationId)
}

/** What CI asks of its shelves together: one commit, everything tested, every operation called, no row of the ledger broken. */
function main(shelves: readonly string[]): void {
  const { tests, exercised } = unionOf(shelves, storedResult)
  const problems = [
    ...subjects.flatMap((subject) => skipProblems(tests, subject)),
    ...inShares.flatMap((subject) => skipProblems(tests, subject, true)),
    ...untestedOperations(openApiDocument({ surfaceOptions: operationOptions }), exercised).map(
      (id) => `the contract suites never saw ${id} succeed`,
    ),
    ...passedProblems(shownRows(readLedger()), tests, false),
  ]
  for (const problem of problems) console.error(problem)
  console.log(`${tests.length} tests of ${shelves.join(', ')}: ${problems.length} problems`)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
