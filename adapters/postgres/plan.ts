import type { MigrationStep } from '../../src/ports/store.js'
import type { Run } from './client.js'
import { readColumns, refuseOtherKinds } from './compare-columns.js'
import { createSchema, journalOf, stepsDone } from './migrate.js'
import type { Place } from './options.js'
import { columnSteps, indexSteps, retiredSteps, tableStep } from './steps.js'
import type { SqlTable } from './table.js'

/**
 * The steps that `migrate` would take now. It changes nothing, so a role that may only read can ask. Throws where
 * `migrate` would refuse what it finds.
 */
export async function planOf(
  run: Run,
  tables: readonly SqlTable[],
  place: Place,
): Promise<readonly MigrationStep[]> {
  const journal = journalOf(place)
  const [there] = await run(
    `select to_regclass('${journal}')::text as "journal", to_regnamespace('"${place.schema}"')::text as "schema"`,
  )
  const isThere = (there?.['journal'] ?? null) !== null
  const done = isThere ? await stepsDone(run, journal) : new Set<string>()
  const found = await readColumns(run, tables)
  refuseOtherKinds(tables, found)
  const rows = await rowsOf(run, tables)
  const steps = tables.flatMap((table) => pendingSteps(table, done, rows.get(table.sql) ?? 0))
  if (isThere) return steps
  const noted = { name: 'postern_migrations/table', statement: null, blocks: 0 }
  const schema = { name: `${place.schema}/schema`, statement: createSchema(place), blocks: 0 }
  return [...((there?.['schema'] ?? null) === null ? [schema] : []), noted, ...steps]
}

function pendingSteps(
  table: SqlTable,
  done: ReadonlySet<string>,
  rows: number,
): readonly MigrationStep[] {
  const create = tableStep(table)
  const isNew = !done.has(create.name)
  const known = isNew ? new Set([...done, ...create.covers]) : done
  const steps = [...columnSteps(table), ...indexSteps(table), ...retiredSteps(table)]
  return [...(isNew ? [create] : []), ...steps.filter(({ name }) => !known.has(name))].map(
    ({ name, ddl }) => ({ name, statement: ddl, blocks: isNew || isQuick(ddl) ? 0 : rows }),
  )
}

/** A column without a computed value is a change of the catalogue alone, and a dropped index too. */
function isQuick(ddl: string): boolean {
  return /^(alter table|drop index)/.test(ddl) && !ddl.includes('generated always')
}

/** As the server last estimated: a count would read the tables. */
async function rowsOf(run: Run, tables: readonly SqlTable[]): Promise<ReadonlyMap<string, number>> {
  const rows = await run(
    `select "name"::text as "table", greatest(reltuples, 0)::bigint::text as "rows" ` +
      `from unnest($1::text[]) as "wanted"("name") ` +
      `join pg_catalog.pg_class on oid = to_regclass("name")`,
    [tables.map(({ sql }) => sql)],
  )
  return new Map(rows.map((row) => [String(row['table']), Number(row['rows'])]))
}
