import type { Column } from '../../src/checks/check-value.js'
import type { FieldKind } from '../../src/ports/store.js'
import type { Cells } from './client.js'

/** A column as statements use it. */
export interface SqlColumn extends Column {
  /** Its quoted name; for `expiresAt` of a `never` collection, which has no column, a typed null. */
  readonly sql: string
  /** Null when nothing is stored. */
  readonly stored: string | null
}

export const sqlTypes: Readonly<Record<FieldKind, string>> = {
  text: 'text',
  integer: 'bigint',
  boolean: 'boolean',
  time: 'timestamptz',
  json: 'jsonb',
}

export function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * The item of a select list, as text: the same from every client, whatever parsers for bigint,
 * timestamptz or jsonb the host registered globally.
 */
export function selected({ name, kind, sql }: SqlColumn): string {
  const text =
    kind === 'text'
      ? sql
      : kind === 'time'
        ? `(extract(epoch from ${sql}) * 1000)::bigint::text`
        : `${sql}::text`
  return `${text} as "${name}"`
}

/** The form in which both clients send a value of this kind unchanged. */
export function encoded(column: Column, value: unknown): unknown {
  if (value === null && (column.nullable || column.kind !== 'json')) return null
  switch (column.kind) {
    case 'integer':
      return String(value)
    case 'time':
      return new Date(Number(value)).toISOString()
    case 'json':
      return JSON.stringify(value)
    case 'text':
    case 'boolean':
      return value
  }
}

export function decoded({ name, kind }: Column, cells: Cells): unknown {
  const cell = cells[name]
  if (cell === null) return null
  if (typeof cell !== 'string') {
    throw new TypeError(`postgres: the client must give text back as strings ("${name}")`)
  }
  switch (kind) {
    case 'integer':
    case 'time':
      return Number(cell)
    case 'boolean':
      return cell === 'true'
    case 'json':
      return JSON.parse(cell)
    case 'text':
      return cell
  }
}

/** A value as SQL text, for `default`. No `$` is left in it, so it can stand in a `$…$` block. */
export function literal(column: Column, value: unknown): string {
  const text = String(encoded(column, value))
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "''")
    .replaceAll('$', '\\u0024')
  return `E'${text}'::${sqlTypes[column.kind]}`
}
