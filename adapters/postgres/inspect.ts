import type { InspectedProblem, Inspection } from '../../src/ports/inspection.js'
import type { RemovedDocuments } from '../../src/ports/store.js'
import {
  type HostKey,
  heldAmong,
  hostProblems,
  type RequiredColumn,
} from '../shared/host-obstacles.js'
import { snakeCase } from '../shared/snake-case.js'
import { type Run, sqlStateOf } from './client.js'
import { journalOf, stepsDone } from './migrate.js'
import type { Place } from './options.js'
import { indexSteps } from './steps.js'
import { inSchemaOf, qualified, type SqlTable } from './table.js'

/** The server's clock, and the indexes that a migration made and that are gone or not valid. Changes nothing. */
export async function inspect(
  run: Run,
  tables: readonly SqlTable[],
  place: Place,
): Promise<Inspection> {
  const [clock] = await run(
    'select floor(extract(epoch from clock_timestamp()) * 1000)::bigint::text as "now"',
  )
  const keys = await restrictingKeys(
    run,
    tables.map(({ sql }) => sql),
  )
  const problems = [
    ...(await indexProblems(run, tables, place)),
    ...hostProblems(keys, await requiredColumns(run, tables)),
  ]
  return { name: 'postgres', now: Number(clock?.['now']), problems }
}

/** Those of a partitioned table once. An index of theirs serves its own collation alone. A key that would set a required column to null refuses as well. */
async function restrictingKeys(run: Run, tables: readonly string[]): Promise<readonly HostKey[]> {
  const rows = await run(
    `select "to", format('%I.%I', nspname, relname) as "from", conname::text as "name", string_agg(` +
      `format('theirs.%I = ours.%I', own.attname, referenced.attname) || coalesce(format(' collate %s', ` +
      `nullif(own.attcollation, 0)::regcollation), ''), ' and ') as "match" ` +
      'from unnest($1::text[]) as "wanted"("to") join pg_catalog.pg_constraint as con on confrelid = to_regclass("to") ' +
      'join pg_catalog.pg_class as class on class.oid = conrelid ' +
      'join pg_catalog.pg_namespace as space on space.oid = relnamespace ' +
      'cross join unnest(conkey, confkey) as pair(own, referenced) ' +
      'join pg_catalog.pg_attribute as own on own.attrelid = conrelid and own.attnum = pair.own ' +
      'join pg_catalog.pg_attribute as referenced on referenced.attrelid = confrelid and referenced.attnum = pair.referenced ' +
      `where contype = 'f' and conparentid = 0 group by con.oid, "to", nspname, relname, conname, confdeltype ` +
      `having confdeltype in ('a', 'r') or (confdeltype = 'n' and bool_or(own.attnotnull))`,
    [tables],
  )
  return rows.map(({ to, from, name, match }) => ({
    to: String(to),
    from: String(from),
    name: String(name),
    match: String(match),
  }))
}

/** Those of the host. */
async function requiredColumns(
  run: Run,
  tables: readonly SqlTable[],
): Promise<readonly RequiredColumn[]> {
  const rows = await run(
    `select "table", attname::text as "column" from unnest($1::text[]) as "wanted"("table") ` +
      'join pg_catalog.pg_attribute on attrelid = to_regclass("table") ' +
      `where attnum > 0 and not attisdropped and attnotnull and not atthasdef and attidentity = ''`,
    [tables.map(({ sql }) => sql)],
  )
  const own = tables.flatMap(({ sql, columns }) =>
    [...columns.values()].map(({ stored }) => `${sql}.${stored}`),
  )
  return rows
    .map(({ table, column }) => ({ table: String(table), column: String(column) }))
    .filter(({ table, column }) => !own.includes(`${table}."${column}"`))
}

/** The keys whose rows refer to what is about to go. Asks the catalogue first, and then only the tables that it names. */
export async function heldBy(
  run: Run,
  removals: readonly RemovedDocuments[],
  place: Place,
): Promise<readonly string[]> {
  const placed = removals.map((removal) => {
    return { ...removal, table: qualified(place.tablePrefix + removal.collection, place) }
  })
  const keys = await restrictingKeys(
    run,
    placed.map(({ table }) => table),
  )
  return heldAmong(keys, placed, async ({ from, match }, { table, field, value }) => {
    const text =
      `select from ${from} as theirs join ${table} as ours on ${match} ` +
      `where ours."${snakeCase(field)}" = $1::text limit 1`
    return (await run(text, [value]).catch(unreadable)).length > 0
  })
}

/** The role may not read that table: only the deletion itself shows what its key says. */
function unreadable(error: unknown): readonly [] {
  if (sqlStateOf(error) === '42501') return []
  throw error
}

/** What was never made is a step of the plan. The journal knows nothing of what was dropped by hand. */
async function indexProblems(
  run: Run,
  tables: readonly SqlTable[],
  place: Place,
): Promise<readonly InspectedProblem[]> {
  const journal = journalOf(place)
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
