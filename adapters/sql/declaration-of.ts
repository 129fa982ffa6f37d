import type { SqlDialect } from './dialect.js'
import type { SqlColumn } from './table.js'
import { encoded } from './values.js'

/** A column as `create table` and `alter table` take it. `type` is that of its declaration unless another is given. */
export function declarationOf(
  dialect: SqlDialect,
  column: SqlColumn,
  type: string = dialect.types[column.type],
): string {
  const parts = [column.sql, type]
  if (!column.nullable) parts.push('not null')
  if (column.name === 'id') parts.push('primary key')
  if (column.default !== undefined && column.default !== null) {
    const value = encoded(column, column.default)
    parts.push(`default ${typeof value === 'string' ? dialect.literal(value) : value}`)
  }
  return parts.join(' ')
}
