// What `postern/sql` has to know of a SQL database, at the example of PostgreSQL, which Postern ships a store of its
// own for. Tables, statements, guards and migrations are made by `sqlBackend`.
import type { Pool } from 'pg'
import type { Backend } from 'postern'
import { type SqlDialect, sqlBackend } from 'postern/sql'

const postgresDialect: SqlDialect = {
  name: 'postgres',
  // A dictionary's order is none of code points.
  types: { key: 'text collate "C"', text: 'text', integer: 'bigint', json: 'text' },
  longestName: 63,
  quote: (name) => `"${name}"`,
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  placeholder: (position) => `$${position}`,
  update: ({ table, columns, set, where }) =>
    `update ${table} set ${set} where ${where} returning ${columns}`,
  onTaken: (id, assignments) => `on conflict (${id}) do update set ${assignments}`,
  incoming: (column) => `excluded.${column}`,
  // Chosen, locked and removed in one step; rows that another sweep holds are left to it.
  remove: ({ table, id, where, orderBy }) =>
    `delete from ${table} where ${id} in (select ${id} from ${table} where ${where} ` +
    `order by ${orderBy} limit ? for update skip locked) returning 1`,
  failure(error) {
    const state = error instanceof Error && 'code' in error ? error.code : ''
    if (state === '23505') return 'taken' // unique_violation
    if (state === '42P01' || state === '42703') return 'missing' // undefined_table, undefined_column
    if (state === '40001' || state === '40P01') return 'undone' // serialization_failure, deadlock_detected
    return 'unknown'
  },
  async schemaOf(run, tables) {
    const wanted = tables.map(() => '?').join(', ')
    const columns = await run(
      "select table_name, column_name, data_type || case collation_name when 'C' then ' collate \"C\"' else '' end, " +
        'is_nullable from information_schema.columns ' +
        `where table_schema = current_schema() and table_name in (${wanted})`,
      tables,
    )
    const indexes = await run(
      'select tablename, indexname from pg_indexes ' +
        `where schemaname = current_schema() and tablename in (${wanted})`,
      tables,
    )
    return {
      columns: columns.map(([table, column, type, nullable]) => ({
        table: String(table),
        column: String(column),
        type: String(type),
        nullable: nullable === 'YES',
      })),
      indexes: indexes.map(([table, name]) => ({ table: String(table), name: String(name) })),
    }
  },
}

/** @example const backend = postgresByDialect(new Pool()) */
export function postgresByDialect(pool: Pool): Backend {
  return sqlBackend(async (text, values) => {
    const { rows } = await pool.query({ text, values: [...values], rowMode: 'array' })
    return rows
  }, postgresDialect)
}
