import { createHash } from 'node:crypto'
import type { Shape } from '../../src/checks/shape.js'
import { snakeCase } from '../shared/snake-case.js'
import type { SqlColumn } from './columns.js'
import type { Place } from './options.js'
import { type RowReader, rowReader } from './row-reader.js'

const longestName = 63

/** A collection's table as statements name it. */
export interface SqlTable {
  readonly shape: Shape
  /** Without schema and quotes. */
  readonly bareName: string
  /** Quoted, with its schema. */
  readonly sql: string
  readonly columns: ReadonlyMap<string, SqlColumn>
  /** Reads the whole row. */
  readonly reader: RowReader
  /** True of rows whose expiry is at or before `$1`, in a form that an index of the table serves. */
  readonly expired: string
  /** The column of the index on expiry. */
  readonly expiryColumn: string
}

/**
 * The day a row expires, kept by Postgres itself. An index on `expires_at` would make each of a
 * row's frequent renewals write every index of the table again; its day rarely changes. No field
 * can be called this, since field names start with a letter.
 */
export const dayColumn = '"_expires_day"'
export const dayOf = (time: string): string => `(${time} at time zone 'UTC')::date`

export function tableOf(shape: Shape, place: Place): SqlTable {
  const bareName = `${place.tablePrefix}${shape.name}`
  if (bareName.length > longestName) {
    throw new TypeError(`postgres: "${bareName}" is longer than a table's name may be`)
  }
  const columns = new Map<string, SqlColumn>()
  for (const column of shape.columns.values()) {
    const absent = column.name === 'expiresAt' && shape.expires === 'never'
    const stored = absent ? null : `"${snakeCase(column.name)}"`
    columns.set(column.name, { ...column, stored, sql: stored ?? 'null::timestamptz' })
  }
  const exactly = '"expires_at" <= $1::timestamptz'
  return {
    shape,
    bareName,
    sql: qualified(bareName, place),
    columns,
    reader: rowReader([...columns.values()]),
    expired:
      shape.expires === 'sliding'
        ? `${dayColumn} <= ${dayOf('$1::timestamptz')} and ${exactly}`
        : exactly,
    expiryColumn: shape.expires === 'sliding' ? dayColumn : '"expires_at"',
  }
}

export function qualified(bareName: string, { schema }: Place): string {
  return `"${schema}"."${bareName}"`
}

/** A quoted name as that of something in the same schema. */
export function inSchemaOf({ sql, bareName }: SqlTable, name: string): string {
  return sql.slice(0, -`"${bareName}"`.length) + name
}

/** Quoted. Names Postgres would cut, and so might confuse, end in a digest of the whole name. */
export function indexName(table: SqlTable, words: readonly string[]): string {
  const name = [table.bareName, ...words].join('_')
  if (name.length <= longestName) return `"${name}"`
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8)
  return `"${name.slice(0, longestName - 9)}_${digest}"`
}
