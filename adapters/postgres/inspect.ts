import type { InspectedProblem, Inspection } from '../../src/ports/inspection.js'
import type { Run } from './client.js'
import { journalOf, stepsDone } from './migrate.js'
import type { PostgresOptions } from './options.js'
import { indexSteps } from './steps.js'
import { inSchemaOf, type SqlTable } from './table.js'

/** The server's clock, and the indexes that a migration made and that are gone or not valid. Changes nothing. */
export async function inspect(
  run: Run,
  tables: readonly SqlTable[],
  options: PostgresOptions,
): Promise<Inspection> {
  const [clock] = await run(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint::text as "now"',
  )
  const problems = await indexProblems(run, tables, options)
  return { name: 'postgres', now: Number(clock?.['now']), problems }
}

/** What was never made is a step of the plan. The journal knows nothing of what was dropped by hand. */
async function indexProblems(
  run: Run,
  tables: readonly SqlTable[],
  options: PostgresOptions,
): Promise<readonly InspectedProblem[]> {
  const journal = journalOf(options)
  const [there] = await run(`select to_regclass('${journal}')::text as "name"`)
  if ((there?.['name'] ?? null) === null) return []
  const done = await stepsDone(run, journal)
  const made = tables.flatMap((table) =>
    indexSteps(table)
      .filter(({ name }) => done.has(name))
      .map(({ index, ddl }) => ({ index: inSchemaOf(table, index), ddl })),
  )
  const usable = await usableIndexes(
    run,
    made.map(({ index }) => index),
  )
  return made
    .filter(({ index }) => !usable.has(index))
    .map(({ index, ddl }) => ({
      kind: 'schema',
      problem: `The index ${index} was made by a migration, and is gone or not valid.`,
      remedy: `Drop what is left of it, and make it again: ${ddl.replace(' index ', ' index concurrently ')}`,
    }))
}

async function usableIndexes(run: Run, names: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await run(
    'select "name"::text from unnest($1::text[]) as "wanted"("name") ' +
      'join pg_catalog.pg_index on indexrelid = to_regclass("name") where indisvalid and indisready',
    [names],
  )
  return new Set(rows.map((row) => String(row['name'])))
}
