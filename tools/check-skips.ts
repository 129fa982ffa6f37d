import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TestResults } from './trace-tests.js'

/**
 * Why a run does not count as having tested `subject`: its skipped tests, or that it ran none.
 * A test belongs to the subject when its file's path below `test/` or its full title names it, in any case.
 */
export function skipProblems(results: TestResults, subject: string): readonly string[] {
  const word = subject.toLowerCase()
  const tests = results.testResults
    .flatMap((file) => file.assertionResults.map((test) => ({ ...test, file: file.name })))
    .filter(({ file, fullName }) =>
      // Below the test folder only: the checkout itself may lie in a folder of any name.
      `${file.split('/test/').at(-1)} ${fullName}`.toLowerCase().includes(word),
    )
  const problems = tests
    .filter((test) => test.status !== 'passed' && test.status !== 'failed')
    .map((test) => `skipped: ${test.fullName}`)
  return tests.length === problems.length ? [...problems, `no test of ${subject} ran`] : problems
}

function main(subjects: readonly string[]): void {
  const url = new URL('../.results/vitest.json', import.meta.url)
  const results: TestResults = JSON.parse(readFileSync(url, 'utf8'))
  if (subjects.length === 0) throw new Error('name the stores that must have been tested')
  for (const subject of subjects) {
    const problems = skipProblems(results, subject)
    for (const problem of problems) console.error(problem)
    if (problems.length > 0) process.exitCode = 1
    else console.log(`every test of ${subject} ran`)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
