import { createHash } from 'node:crypto'
import { type Column, longestKey } from '../../src/checks/check-value.js'
import type { Index, Shape } from '../../src/checks/shape.js'
import { snakeCase } from '../shared/snake-case.js'
import type { SqlDialect, SqlType } from './dialect.js'

/** A column of a table. */
export interface SqlColumn extends Column {
  /** Without quotes. */
  readonly bare: string
  /** Quoted. */
  readonly sql: string
  readonly type: SqlType
}

/** A collection's table as statements name it. */
export interface SqlTable {
  readonly shape: Shape
  readonly bare: string
  readonly sql: string
  readonly columns: ReadonlyMap<string, SqlColumn>
  /** All columns, quoted, separated by commas: every select list. */
  readonly list: string
  readonly id: string
  readonly expiresAt: string
}

export function tableOf(shape: Shape, dialect: SqlDialect, prefix: string): SqlTable {
  const bare = `${prefix}${shape.name}`
  if (bare.length > dialect.longestName) {
    throw new TypeError(`${dialect.name}: "${bare}" is longer than the name of a table may be`)
  }
  const columns = new Map<string, SqlColumn>()
  for (const column of shape.columns.values()) {
    const name = snakeCase(column.name)
    columns.set(column.name, {
      ...column,
      bare: name,
      sql: dialect.quote(name),
      type: typeOf(column),
    })
  }
  return {
    shape,
    bare,
    sql: dialect.quote(bare),
    columns,
    list: [...columns.values()].map(({ sql }) => sql).join(', '),
    id: dialect.quote('id'),
    expiresAt: dialect.quote('expires_at'),
  }
}

function typeOf({ kind, longest }: Column): SqlType {
  if (kind === 'json') return 'json'
  if (kind === 'text') return longest <= longestKey ? 'key' : 'text'
  return 'integer'
}

export function columnOf({ columns, shape }: SqlTable, name: string): SqlColumn {
  const column = columns.get(name)
  if (!column) throw new TypeError(`${shape.name}: "${name}" is not declared`)
  return column
}

/** Without quotes. A name that the database would cut, and so might confuse, ends in a digest of the whole. */
export function indexName(
  table: SqlTable,
  { on, unique }: Index,
  { longestName }: SqlDialect,
): string {
  const name = [table.bare, ...on.map(snakeCase), unique ? 'key' : 'idx'].join('_')
  if (name.length <= longestName) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `${name.slice(0, longestName - 9)}_${digest}`
}
