import { plainTitle, type RequirementRow, type RequirementTable } from './requirement-table.js'

/** The part of vitest's JSON result that is read here. */
export interface TestResults {
  /** Whether these are the tests there are, not the results of a run. */
  readonly listed?: boolean
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

/** What ids of one list look like in a title. */
export type IdPattern = RegExp

/** Ranges such as `R-1-01…07` are taken as one word on purpose, and so found to be unknown. */
const requirementIds: IdPattern = /\bR-[0-9A-Za-z][-–….0-9A-Za-z]*[0-9A-Za-z]/g

/** `ASVS-7.3.2`: a row of the OWASP standard of that name. */
export const asvsIds: IdPattern = /\bASVS\b[-–….\s]?[0-9][-–….0-9A-Za-z]*/g

const idsIn = (title: string, like: IdPattern): ReadonlySet<string> =>
  new Set(title.match(like) ?? [])

interface Test {
  readonly file: string
  readonly title: string
  readonly status: string
}

/** A list of tests as results: each counts as passed, so that titles can be compared without a run. */
export const listedResults = (list: TestList): TestResults => ({
  listed: true,
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
  like: IdPattern,
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
  like: IdPattern,
): readonly string[] {
  const named = new Set(tests.flatMap((test) => [...idsIn(test.title, like)]))
  const unknown = [...named].filter((id) => !ids.includes(id))
  const crowded = tests.filter((test) => idsIn(test.title, like).size > mostIds)
  return [
    ...unknown.map((id) => `a title names an unknown requirement: ${id}`),
    ...new Set(crowded.map(({ title }) => `a title has more than ${mostIds} ids: "${title}"`)),
  ]
}

/** Compares the table with the list of requirements and with the tests that it names. */
export function trace(
  results: TestResults,
  table: RequirementTable,
  ids: readonly string[],
  like: IdPattern = requirementIds,
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
