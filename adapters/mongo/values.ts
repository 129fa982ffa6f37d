import type { Column } from '../../src/checks/check-value.js'
import type { Row, Shape } from '../../src/checks/shape.js'
import type { StoredDocument } from './handle.js'

/** The name a field is stored under. */
export function storedName({ name }: Column): string {
  return name === 'id' ? '_id' : name
}

/**
 * The BSON value of a field's value: times as dates, `json` as text, since BSON has its own mind
 * about keys that hold `.` or `$`. Numbers beyond 32 bits become doubles, exact up to 2^53.
 */
export function encoded({ kind }: Column, value: unknown): unknown {
  if (kind === 'json') return JSON.stringify(value)
  if (value === null) return null
  if (kind === 'time') return new Date(Number(value))
  return value === 0 ? 0 : value // -0 would be kept as such
}

/** Fields of a document or of a part of one, by their stored names. */
export function storedFields(shape: Shape, row: Row): Readonly<Record<string, unknown>> {
  const fields: Record<string, unknown> = {}
  for (const column of shape.columns.values()) {
    if (Object.hasOwn(row, column.name)) {
      fields[storedName(column)] = encoded(column, row[column.name])
    }
  }
  return fields
}

export function rowOf(shape: Shape, stored: StoredDocument): Row {
  const row: Record<string, unknown> = {}
  for (const column of shape.columns.values()) {
    row[column.name] = decoded(column, stored[storedName(column)])
  }
  return row
}

function decoded(column: Column, stored: unknown): unknown {
  // Written before the field existed, or by a replica that does not know it yet.
  if (stored === undefined) return structuredClone(column.default ?? null)
  if (stored === null) return null
  switch (column.kind) {
    case 'integer':
    case 'time':
      return Number(stored)
    case 'json':
      return JSON.parse(String(stored))
    case 'text':
    case 'boolean':
      return stored
  }
}
