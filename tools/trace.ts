import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  chapterOf,
  plainTitle,
  type RequirementRow,
  type RequirementTable,
  readRequirementTable,
} from './requirement-table.js'

/** The part of vitest's JSON result that is read here. */
export interface TestResults {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[]
  }[]
}

/** What `vitest list --json` writes. */
export type TestList = readonly { readonly name: string; readonly file: string }[]

export interface Trace {
  /** Requirements whose row names a test that passed and carries the id, in the list's order. */
  readonly shown: readonly string[]
  /** Requirements without a row. */
  readonly missing: readonly string[]
  /** Everything else that is wrong, in words. */
  readonly problems: readonly string[]
}

/** A title with more ids claims more than one test can show of each. */
const mostIds = 4

/** Ranges such as `R-1-01…07` are taken as one word on purpose, and so found to be unknown. */
const idLike = /\bR-[0-9A-Za-z][-–….0-9A-Za-z]*[0-9A-Za-z]/g

const idsIn = (title: string, like: RegExp): ReadonlySet<string> => new Set(title.match(like) ?? [])

interface Test {
  readonly file: string
  readonly title: string
  readonly status: string
}

/** A list of tests as results: each counts as passed, so that titles can be compared without a run. */
export const listedResults = (list: TestList): TestResults => ({
  testResults: list.map(({ name, file }) => ({
    name: file,
    assertionResults: [{ fullName: name, status: 'passed' }],
  })),
})

const testsOf = (results: TestResults): readonly Test[] =>
  results.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status }) => ({
      file: name.replaceAll('\\', '/'),
      title: plainTitle(fullName),
      status,
    })),
  )

/** Why the row shows nothing, or null. Of several tests with one title each must have passed. */
function brokenRow(
  { id, file, title }: RequirementRow,
  tests: readonly Test[],
  like: RegExp,
): string | null {
  const inFile = tests.filter((test) => test.file.endsWith(`/${file}`))
  if (inFile.length === 0) return `${id}: no test of ${file} ran`
  const named = inFile.filter((test) => test.title === title)
  const failed = named.find((test) => test.status !== 'passed')
  if (named.length === 0) return `${id}: ${file} has no test "${title}"`
  if (failed !== undefined) return `${id}: ${failed.status}: ${file} "${title}"`
  if (!idsIn(title, like).has(id)) return `${id}: the title does not carry it: ${file} "${title}"`
  return null
}

function brokenTitles(
  tests: readonly Test[],
  ids: readonly string[],
  like: RegExp,
): readonly string[] {
  const named = new Set(tests.flatMap((test) => [...idsIn(test.title, like)]))
  const unknown = [...named].filter((id) => !ids.includes(id))
  const crowded = tests.filter((test) => idsIn(test.title, like).size > mostIds)
  return [
    ...unknown.map((id) => `a title names an unknown requirement: ${id}`),
    ...new Set(crowded.map(({ title }) => `a title has more than ${mostIds} ids: "${title}"`)),
  ]
}

/**
 * Compares the table with the list of requirements and with the tests that it names. `like` finds in a
 * title whatever is meant for such an id.
 */
export function trace(
  results: TestResults,
  table: RequirementTable,
  ids: readonly string[],
  like = idLike,
): Trace {
  const tests = testsOf(results)
  const known = table.rows.filter((row) => ids.includes(row.id))
  const verdicts = known.map((row) => ({ id: row.id, broken: brokenRow(row, tests, like) }))
  const shown = new Set(verdicts.filter(({ broken }) => broken === null).map(({ id }) => id))
  const mapped = new Set(known.map(({ id }) => id))
  return {
    shown: ids.filter((id) => shown.has(id)),
    missing: ids.filter((id) => !mapped.has(id)),
    problems: [
      ...table.problems,
      ...table.rows
        .filter((row) => !ids.includes(row.id))
        .map((row) => `a row for an unknown requirement: ${row.id}`),
      ...verdicts.flatMap(({ broken }) => broken ?? []),
      ...brokenTitles(tests, ids, like),
    ],
  }
}

/** One line a chapter: `R-1: 08 09 20`. */
export function compact(ids: readonly string[]): string {
  const chapters = new Map<string, string[]>()
  for (const id of ids) {
    const chapter = chapterOf(id)
    chapters.set(chapter, [...(chapters.get(chapter) ?? []), id.slice(chapter.length + 1)])
  }
  return [...chapters].map(([chapter, numbers]) => `  ${chapter}: ${numbers.join(' ')}`).join('\n')
}

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

/** The last run, or a list that was made instead of one. */
export function readResults(listed: string | undefined): TestResults {
  if (listed !== undefined) return listedResults(JSON.parse(readFileSync(listed, 'utf8')))
  if (!existsSync(new URL('../.results/vitest.json', import.meta.url))) {
    throw new Error('There is no test run to read: run npm test first.')
  }
  return JSON.parse(read('.results/vitest.json'))
}

function main([listed]: readonly string[]): void {
  const ids: readonly string[] = JSON.parse(read('tools/requirement-ids.json'))
  const table = readRequirementTable(read('test/requirements.md'))
  const { shown, missing, problems } = trace(readResults(listed), table, ids)
  console.log(`${shown.length} of ${ids.length} requirements are shown whole`)
  if (missing.length > 0)
    console.error(`Without a row in test/requirements.md:\n${compact(missing)}`)
  for (const problem of problems) console.error(problem)
  if (missing.length > 0 || problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
