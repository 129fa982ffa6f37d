import { longestKey } from '../../src/checks/check-value.js'
import type { NarrowDialect, ObstacleQueries, SqlDialect } from '../sql/index.js'

/** ER_DUP_ENTRY. */
const taken = 1062
/** ER_NO_SUCH_TABLE, ER_BAD_FIELD_ERROR. */
const missing = new Set([1146, 1054])
/** ER_LOCK_DEADLOCK, ER_CHECKREAD: the server rolled the transaction back, which was this statement alone. */
const undone = new Set([1213, 1020])

const types = {
  key: 'varchar(255)',
  text: 'mediumtext',
  integer: 'bigint(20)',
  json: 'longtext',
} as const
const collation = 'utf8mb4_nopad_bin'

/** MariaDB 10.6 and newer, with InnoDB. */
export const mariadbDialect: SqlDialect = {
  name: 'mariadb',
  types,
  longestName: 64,
  // `nopad`: a trailing space counts. `bin`: case, accents and forms count, and the order is that of code points.
  tableSuffix: ` engine = InnoDB, character set utf8mb4, collate ${collation}`,
  quote: (name) => `\`${name}\``,
  // In hexadecimal: what a backslash means depends on the host's `sql_mode`.
  literal: (text) => `(_utf8mb4 x'${Buffer.from(text).toString('hex')}')`,
  // There is no `update … returning`. The select locks the row as it is now, and its copy is taken by the row itself.
  update: ({ table, columns, set, where }) =>
    `insert into ${table} (${columns}) select ${columns} from ${table} where ${where} for update ` +
    `on duplicate key update ${set} returning ${columns}`,
  updatesByWhereFirst: true,
  onTaken: (_, assignments) => `on duplicate key update ${assignments}`,
  incoming: (column) => `values(${column})`,
  remove: ({ table, where, orderBy }) =>
    `delete from ${table} where ${where} order by ${orderBy} limit ? returning 1`,
  failure(error) {
    const errno = error instanceof Error && 'errno' in error ? Number(error.errno) : 0
    if (errno === taken) return 'taken'
    if (missing.has(errno)) return 'missing'
    return undone.has(errno) ? 'undone' : 'unknown'
  },
  dropIndex: (table, index) => `drop index ${index} on ${table}`,
  // The table may have been given another character set meanwhile.
  narrow: narrow(`${types.key} character set utf8mb4 collate ${collation}`),
  obstacles,
  async schemaOf(run, tables) {
    const wanted = tables.map(() => '?').join(', ')
    const inDatabase = `table_schema = database() and table_name in (${wanted})`
    const engines = await run(
      `select table_name, engine from information_schema.tables where ${inDatabase}`,
      tables,
    )
    for (const [table, engine] of engines) refuseEngine(String(table), String(engine))
    const columns = await run(
      `select table_name, column_name, column_type, is_nullable, collation_name from information_schema.columns where ${inDatabase}`,
      tables,
    )
    const indexes = await run(
      `select distinct table_name, index_name from information_schema.statistics where ${inDatabase}`,
      tables,
    )
    return {
      columns: columns.map(([table, column, type, nullable, collated]) => ({
        table: String(table),
        column: String(column),
        type: typeName(String(type).toLowerCase(), collated),
        nullable: nullable === 'YES',
      })),
      indexes: indexes.map(([table, name]) => ({ table: String(table), name: String(name) })),
    }
  },
}

const quoted = (name: string): string => `concat('\`', replace(${name}, '\`', '\`\`'), '\`')`

const match = `concat('theirs.', ${quoted('k.column_name')}, ' = ours.', ${quoted('k.referenced_column_name')})`

/** Of this database alone: to ask about others, the server would open every table that it has. */
function obstacles(tables: string): ObstacleQueries {
  return {
    keys:
      `select k.referenced_table_name, ${quoted('k.table_name')}, k.constraint_name, group_concat(${match} separator ' and ') ` +
      'from information_schema.key_column_usage as k join information_schema.referential_constraints as r ' +
      'using (constraint_schema, constraint_name, table_name) where k.table_schema = database() ' +
      `and k.constraint_schema = database() and k.referenced_table_name in (${tables}) ` +
      "and r.delete_rule in ('RESTRICT', 'NO ACTION') group by 1, 2, 3",
    required:
      'select table_name, column_name from information_schema.columns where table_schema = database() ' +
      `and table_name in (${tables}) and is_nullable = 'NO' and column_default is null and extra = ''`,
  }
}

/** ER_BAD_NULL_ERROR, ER_NO_DEFAULT_FOR_FIELD; ER_ROW_IS_REFERENCED_2, ER_NO_REFERENCED_ROW_2, ER_CONSTRAINT_FAILED. */
const refusing = new Set([1048, 1364, 1451, 1452, 4025])

/** The server names what refused a write in its words alone. The log of the host takes the name, and none of the words. */
export function withConstraint(error: unknown): unknown {
  if (!(error instanceof Error) || !('errno' in error) || !refusing.has(Number(error.errno))) {
    return error
  }
  const [words = ''] = error.message.split('\nsql: ')
  const [, constraint] = /CONSTRAINT `(?:\w+\.)?(\w+)`/.exec(words) ?? []
  const [, column] = /(?:Column|Field) '(\w+)'/.exec(words) ?? []
  const [, table] = /`\w+`\.`(\w+)`/.exec(words) ?? []
  return Object.assign(error, { constraint, column, table })
}

/** A statement of another engine is not undone where it fails half-way, and locks otherwise. */
function refuseEngine(table: string, engine: string): void {
  if (engine.toLowerCase() === 'innodb') return
  throw new Error(
    `mariadb: table \`${table}\` has the engine ${engine}; change it: alter table \`${table}\` engine = InnoDB`,
  )
}

/** Another collation is another type: it would take two texts for one. */
function typeName(type: string, collated: unknown): string {
  return collated === null || collated === collation ? type : `${type} collate ${String(collated)}`
}

// Set for the statement alone, because the host's sessions may have other values.
const strict = "set statement sql_mode = 'STRICT_ALL_TABLES', check_constraint_checks = 1 for "

/**
 * A `mediumtext` becomes a column of this type. The strict mode alone would not do: it cuts spaces at the end of a text and
 * says nothing. A constraint counts first, for the rows that are there and for those that others write until
 * the type is changed. The same statement that changes the type removes it.
 */
function narrow(type: string): NarrowDialect {
  // Two bytes for each UTF-16 code unit.
  const lengthOf = (column: string) => `octet_length(convert(${column} using utf16))`
  return {
    isTooLong: (column) => `${lengthOf(column)} > ${2 * longestKey}`,
    statements({ table, column, declare }) {
      const constraint = `\`fits_${column.replaceAll('`', '')}\``
      const fits = `check (${lengthOf(column)} <= ${2 * longestKey})`
      return [
        `${strict}alter table ${table} add constraint if not exists ${constraint} ${fits}`,
        `${strict}alter table ${table} drop constraint if exists ${constraint}, modify column ${declare(type)}`,
      ]
    },
  }
}
