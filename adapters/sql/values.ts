import type { Column } from '../../src/checks/check-value.js'
import type { SqlRow, SqlValue } from './sql-run.js'
import type { SqlTable } from './table.js'

/** A value as it is sent and stored. It was checked to be of the column's kind. */
export function encoded({ kind, nullable }: Column, value: unknown): SqlValue {
  if (kind === 'json') return value === null && nullable ? null : JSON.stringify(value)
  if (value === null || typeof value === 'string') return value
  return Number(value)
}

/** Drivers give integers as numbers, as texts or as `bigint`; all of them have 53 bits at most. */
function decoded({ kind }: Column, value: unknown): unknown {
  if (value === null) return null
  switch (kind) {
    case 'json':
      return JSON.parse(String(value))
    case 'boolean':
      return Number(value) !== 0
    case 'text':
      return String(value)
    case 'integer':
    case 'time':
      return Number(value)
  }
}

/** The document of a row with all columns of the table. */
export function documentOf({ columns }: SqlTable, row: SqlRow): Record<string, unknown> {
  const document: Record<string, unknown> = {}
  let at = 0
  for (const column of columns.values()) {
    document[column.name] = decoded(column, row[at])
    at += 1
  }
  return document
}
