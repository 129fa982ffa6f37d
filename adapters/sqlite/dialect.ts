import type { SqlDialect } from '../sql/index.js'

/** SQLITE_CONSTRAINT_PRIMARYKEY and SQLITE_CONSTRAINT_UNIQUE. */
const taken = new Set([1555, 2067])

/** SQLITE_CONSTRAINT_FOREIGNKEY and SQLITE_CONSTRAINT_TRIGGER: the database does not say which. */
const unnamed = new Map([
  [787, 'FOREIGN_KEY'],
  [1811, 'TRIGGER'],
])

/** The database names what refused a write in its words alone. The log of the host takes the name, and none of the words. */
export function withConstraint(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const [, column] = /^NOT NULL constraint failed: (?:\w+\.)?(\w+)$/.exec(error.message) ?? []
  const [, check] = /^CHECK constraint failed: (\w+)$/.exec(error.message) ?? []
  return Object.assign(error, { column, constraint: check ?? unnamed.get(Number(error.errcode)) })
}

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
  obstacles(tables) {
    // A key without a column refers to the primary key.
    const match = `'theirs."' || f."from" || '" = ours."' || coalesce(f."to", 'id') || '"'`
    return {
      keys:
        `select f."table", '"' || m.name || '"' as "theirs", group_concat(f."from") as "name", ` +
        `group_concat(${match}, ' and ') as "match" from sqlite_master as m, pragma_foreign_key_list(m.name) as f ` +
        `where m.type = 'table' and f."table" in (${tables}) and f.on_delete in ('NO ACTION', 'RESTRICT') ` +
        'group by m.name, f.id',
      required:
        'select t.name as "table", c.name from sqlite_master as t, pragma_table_info(t.name) as c ' +
        `where t.name in (${tables}) and c."notnull" = 1 and c.dflt_value is null and c.pk = 0`,
    }
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
