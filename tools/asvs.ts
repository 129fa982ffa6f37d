import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { asvsPage, tally } from './asvs-page.js'
import { type AsvsTable, readAsvsTable, standings } from './asvs-table.js'
import { readResults } from './read-results.js'
import { asvsIds, type TestResults, trace } from './trace-tests.js'

export interface AsvsVerdict {
  /** Rows whose test passed and carries the id, as ids of the standard. */
  readonly shown: readonly string[]
  /** Whether the tests were listed, so that it is not known whether they pass. */
  readonly listed: boolean
  /** Everything that is wrong, in words; empty when the table tells the truth. */
  readonly problems: readonly string[]
}

const inTitle = (id: string): string => `ASVS-${id}`

/** Compares the table with the ids that need a row, and with the tests that it names. */
export function judgeAsvs(
  results: TestResults,
  table: AsvsTable,
  ids: readonly string[],
): AsvsVerdict {
  const known = new Set([...ids, ...table.rows.map(({ id }) => id)])
  const rows = table.rows.flatMap(({ id, by }) =>
    'file' in by ? [{ id: inTitle(id), file: by.file, title: by.title }] : [],
  )
  const { shown, problems } = trace(
    results,
    { rows, problems: [] },
    [...known].map(inTitle),
    asvsIds,
  )
  const mapped = new Set(table.rows.map(({ id }) => id))
  const strangers = table.rows.filter(({ id, owner }) => owner !== 'host' && !ids.includes(id))
  return {
    shown: shown.map((id) => id.slice(inTitle('').length)),
    listed: results.listed ?? false,
    problems: [
      ...table.problems,
      ...ids.filter((id) => !mapped.has(id)).map((id) => `${id} has no row`),
      ...strangers.map(({ id }) => `a row for an id that needs none: ${id}`),
      ...problems,
    ],
  }
}

/** The lines that `npm run asvs` and `npm run trace` print. */
export function asvsLines(
  table: AsvsTable,
  { shown, listed }: Pick<AsvsVerdict, 'shown' | 'listed'>,
): readonly string[] {
  const { levels, others } = tally(table, shown)
  const rest = Object.entries(others).map(([word, ids]) => `${word} ${ids.length}`)
  const open = others[standings.open]
  return [
    `ASVS 5.0, ${listed ? 'with a test' : 'shown by a passing test'}: ${levels.map(({ level, shown: n, all }) => `L${level} ${n}/${all}`).join(' · ')}`,
    `without a test, with the reason in docs/asvs.md: ${rest.join(' · ')}`,
    ...(open.length === 0 ? [] : [`not yet: ${open.join(' ')}`]),
  ]
}

const path = (name: string): URL => new URL(`../${name}`, import.meta.url)
const read = (name: string): string => readFileSync(path(name), 'utf8')

/** What the repository says of the standard, against one run or list of tests. */
export function asvsOf(results: TestResults): { readonly table: AsvsTable } & AsvsVerdict {
  const table = readAsvsTable(read('test/asvs.md'))
  return { table, ...judgeAsvs(results, table, JSON.parse(read('tools/asvs-ids.json'))) }
}

function main([listed]: readonly string[]): void {
  const { table, problems, ...verdict } = asvsOf(readResults(listed))
  writeFileSync(path('docs/asvs.md'), asvsPage(table))
  for (const line of asvsLines(table, verdict)) console.log(line)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2))
