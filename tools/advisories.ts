import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readResults } from './read-results.js'
import { readRequirementTable } from './requirement-table.js'
import { compact } from './trace.js'
import { type TestResults, trace } from './trace-tests.js'

/** How many cases each family of advisories has. */
const families = {
  ...{ RF: 10, SF: 6, OL: 18, RD: 7, MF: 17, TD: 3, RL: 6, EN: 4, PB: 2, HH: 2, EM: 3, NI: 1 },
  ...{ PP: 1, MA: 3, RC: 2, CS: 1, SA: 1, EX: 1, SS: 1, JW: 6 },
} as const

const numbered = (family: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${family}-${index + 1}`)

/** Attacks that befell other products, by what is published of them. */
export const advisoryIds: readonly string[] = Object.entries(families).flatMap(([family, count]) =>
  numbered(family, count),
)

/** What users take for granted and nobody writes down. */
export const promiseIds: readonly string[] = numbered('SP', 64)

const allIds = [...advisoryIds, ...promiseIds]
const idLike = new RegExp(`\\b(?:${[...Object.keys(families), 'SP'].join('|')})-\\d+\\b`, 'g')
const reasonRow = /^\| (?<id>\S+) \| – \| (?<reason>.+) \|$/

export interface Standing {
  /** `advisories 95/95 · promises 64/64`: those that a test shows. */
  readonly summary: string
  /** Ids with neither a test nor a reason. */
  readonly missing: readonly string[]
  readonly problems: readonly string[]
}

/** Reads a page in the form of `test/requirements.md`, where a row may have a reason in place of a test. */
export function standing(results: TestResults, page: string): Standing {
  const lines = page
    .split('\n')
    .map((line) => ({ line, reasoned: reasonRow.exec(line)?.groups?.['id'] }))
  const reasons = lines.flatMap(({ reasoned }) => reasoned ?? [])
  const table = readRequirementTable(
    lines.map(({ line, reasoned }) => (reasoned === undefined ? line : '')).join('\n'),
  )
  const { shown, missing, problems } = trace(results, table, allIds, idLike)
  const of = (ids: readonly string[]) =>
    `${ids.filter((id) => shown.includes(id)).length}/${ids.length}`
  const both = table.rows.filter(({ id }) => reasons.includes(id))
  return {
    summary: `advisories ${of(advisoryIds)} · promises ${of(promiseIds)}`,
    missing: missing.filter((id) => !reasons.includes(id)),
    problems: [
      ...problems,
      ...reasons.filter((id) => !allIds.includes(id)).map((id) => `a reason for nothing: ${id}`),
      ...both.map(({ id }) => `${id} has a test and a reason`),
    ],
  }
}

function main([listed]: readonly string[]): void {
  const url = new URL('../test/security/advisories.md', import.meta.url)
  const { summary, missing, problems } = standing(readResults(listed), readFileSync(url, 'utf8'))
  console.log(summary)
  if (missing.length > 0)
    console.error(`Without a row in test/security/advisories.md:\n${compact(missing)}`)
  for (const problem of problems) console.error(problem)
  if (missing.length > 0 || problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
