import { longestKey } from '../../src/checks/check-value.js'
import { TextTooLongError } from '../shared/text-too-long-error.js'
import { declarationOf } from './declaration-of.js'
import type { FoundSchema, NarrowDialect, SqlDialect } from './dialect.js'
import type { SqlRun } from './sql-run.js'
import type { SqlColumn, SqlTable } from './table.js'

/** A column of the type `text` that is to become a `key`, because an index names it by now. */
interface Narrowing {
  readonly table: SqlTable
  readonly column: SqlColumn
  readonly narrow: NarrowDialect
}

/** The narrowing that this column needs; null where it needs none, or where this dialect has none. */
export function narrowingOf(
  dialect: SqlDialect,
  table: SqlTable,
  column: SqlColumn,
  found: FoundSchema,
): Narrowing | null {
  const { types, narrow } = dialect
  const is = found.columns.find((one) => one.table === table.bare && one.column === column.bare)
  if (narrow === undefined || is === undefined || types.key === types.text) return null
  const isWider = column.type === 'key' && is.type === types.text
  return isWider && is.nullable === column.nullable ? { table, column, narrow } : null
}

/** Each of the statements may be carried out again. */
export function narrowingSteps(
  dialect: SqlDialect,
  { table, column, narrow }: Narrowing,
): readonly { readonly name: string; readonly ddl: string }[] {
  const statements = narrow.statements({
    table: table.sql,
    column: column.sql,
    declare: (type) => declarationOf(dialect, column, type),
  })
  return statements.map((ddl, at) => ({
    name: `${table.bare}/narrow/${column.bare}/${at + 1}`,
    ddl,
  }))
}

/** Throws before anything is changed where a text is there that would have to be cut. */
export async function refuseTooLong(
  run: SqlRun,
  dialect: SqlDialect,
  { table, column, narrow }: Narrowing,
): Promise<void> {
  const tooLong = `from ${table.sql} where ${narrow.isTooLong(column.sql)}`
  const [row] = await run(`select 1 ${tooLong} limit 1`, [])
  if (row === undefined) return
  throw new TextTooLongError(
    `${dialect.name}: ${table.sql}.${column.sql} holds a text of more than ${longestKey} UTF-16 code units, and an ` +
      `index of collection "${table.shape.name}" now names "${column.name}"; shorten these texts and migrate again: ` +
      `select ${table.id} ${tooLong}`,
  )
}
