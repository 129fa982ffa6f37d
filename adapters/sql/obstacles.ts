import type { InspectedProblem } from '../../src/ports/inspection.js'
import type { RemovedDocuments } from '../../src/ports/store.js'
import { type HostKey, heldAmong, hostProblems } from '../shared/host-obstacles.js'
import { snakeCase } from '../shared/snake-case.js'
import type { SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import type { SqlTable } from './table.js'

async function keysTo(
  run: SqlRun,
  dialect: SqlDialect,
  tables: readonly string[],
): Promise<readonly HostKey[]> {
  const queries = dialect.obstacles?.(tables.map(() => '?').join(', '))
  if (queries === undefined) return []
  return (await run(queries.keys, tables)).map(([to, from, name, match]) => ({
    to: String(to),
    from: String(from),
    name: String(name),
    match: String(match),
  }))
}

/** What of the host's refuses writes of these tables. */
export async function problemsOf(
  run: SqlRun,
  dialect: SqlDialect,
  tables: readonly SqlTable[],
): Promise<readonly InspectedProblem[]> {
  const names = tables.map(({ bare }) => bare)
  const queries = dialect.obstacles?.(names.map(() => '?').join(', '))
  if (queries === undefined) return []
  const own = tables.flatMap(({ bare, columns }) =>
    [...columns.values()].map((column) => `${bare}.${column.bare}`),
  )
  const required = (await run(queries.required, names))
    .map(([table, column]) => ({ table: String(table), column: String(column) }))
    .filter(({ table, column }) => !own.includes(`${table}.${column}`))
  return hostProblems(await keysTo(run, dialect, names), required)
}

/** The keys whose rows refer to what is about to go. Asks the catalogue first, and then only the tables that it names. */
export async function heldBy(
  run: SqlRun,
  dialect: SqlDialect,
  removals: readonly (RemovedDocuments & { readonly table: string })[],
): Promise<readonly string[]> {
  const keys = await keysTo(
    run,
    dialect,
    removals.map(({ table }) => table),
  )
  return heldAmong(keys, removals, async ({ from, match }, { table, field, value }) => {
    const text =
      `select 1 from ${from} as theirs join ${dialect.quote(table)} as ours on ${match} ` +
      `where ours.${dialect.quote(snakeCase(field))} = ? limit 1`
    return (await run(text, [value])).length > 0
  })
}
