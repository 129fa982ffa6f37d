import type { Column } from '../../src/checks/check-value.js'
import type { FieldKind } from '../../src/ports/store.js'

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

/** What a read gives of a value that was sent in this form. */
export function readBack({ kind }: Column, sent: unknown): unknown {
  if (sent === null) return null
  switch (kind) {
    case 'integer':
      return Number(sent)
    case 'time':
      return Date.parse(String(sent))
    case 'json':
      return JSON.parse(String(sent))
    case 'text':
    case 'boolean':
      return sent
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
