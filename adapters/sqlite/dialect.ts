import type { SqlDialect } from '../sql/index.js'

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const taken = new Set([1555, 2067])

export const sqliteDialect: SqlDialect = {
  name: 'sqlite',
  // Texts compare by their bytes (collation BINARY), which is the order of code points.
  types: { key: 'text', text: 'text', integer: 'integer', json: 'text' },
  longestName: 120,
  tableSuffix: ' strict',
  quote: (name) => `"${name}"`,
  literal: (text) => `'${text.replaceAll("'", "''")}'`,
  update: ({ table, columns, set, where }) =>
    `update ${table} set ${set} where ${where} returning ${columns}`,
  onTaken: (id, assignments) => `on conflict (${id}) do update set ${assignments}`,
  incoming: (column) => `excluded.${column}`,
  remove: ({ table, id, where, orderBy }) =>
    `delete from ${table} where ${id} in (select ${id} from ${table} where ${where} order by ${orderBy} limit ?) ` +
    `returning 1`,
  failure(error) {
    if (!(error instanceof Error) || !('errcode' in error)) return 'unknown'
    if (taken.has(Number(error.errcode))) return 'taken'
    return /^no such (table|column)/.test(error.message) ? 'missing' : 'unknown'
  },
  async schemaOf(run, tables) {
    const wanted = tables.map(() => '?').join(', ')
    const columns = await run(
      // Rows are objects at first, so no two columns of a list may have one name.
      'select t.name as "table", c.name, c.type, c."notnull" from sqlite_master as t, pragma_table_info(t.name) as c ' +
        `where t.type = 'table' and t.name in (${wanted})`,
      tables,
    )
    const indexes = await run(
      `select tbl_name, name from sqlite_master where type = 'index' and tbl_name in (${wanted})`,
      tables,
    )
    return {
      columns: columns.map(([table, column, type, required]) => ({
        table: String(table),
        column: String(column),
        type: String(type).toLowerCase(),
        nullable: Number(required) === 0,
      })),
      indexes: indexes.map(([table, name]) => ({ table: String(table), name: String(name) })),
    }
  },
}
