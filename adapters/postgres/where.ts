import type { Condition } from '../../src/checks/check-write.js'
import { encoded, type SqlColumn, sqlTypes } from './columns.js'
import type { SqlTable } from './table.js'

/** The values of one statement, in the order of their `$n`. */
export class Parameters {
  readonly values: unknown[] = []

  /** Adds a value of the column's kind; gives the SQL that stands for it. */
  bind(column: SqlColumn, value: unknown): string {
    return this.#add(encoded(column, value), sqlTypes[column.kind])
  }

  bindAll(column: SqlColumn, values: readonly unknown[]): string {
    const list = values.map((value) => encoded(column, value))
    return this.#add(list, `${sqlTypes[column.kind]}[]`)
  }

  bindCount(count: number): string {
    return this.#add(String(count), 'bigint')
  }

  #add(value: unknown, type: string): string {
    this.values.push(value)
    return `$${this.values.length}::${type}`
  }
}

/** `id = … and …` */
export function whereId(
  table: SqlTable,
  parameters: Parameters,
  id: string,
  conditions: readonly Condition[],
): string {
  const key: Condition = { column: columnOf(table, 'id'), form: 'equals', value: id }
  return where(table, parameters, [key, ...conditions])
}

export function where(
  table: SqlTable,
  parameters: Parameters,
  conditions: readonly Condition[],
): string {
  return conditions.map((condition) => test(table, parameters, condition)).join(' and ')
}

/**
 * `=` or `is null` by the value: `is not distinct from` would serve both, but never uses an index,
 * and turns a missing value into one that matches null.
 */
function test(table: SqlTable, parameters: Parameters, condition: Condition): string {
  const column = columnOf(table, condition.column.name)
  switch (condition.form) {
    case 'equals':
      if (condition.value === null) return `${column.sql} is null`
      return `${column.sql} = ${parameters.bind(column, condition.value)}`
    case 'in':
      return oneOf(column, parameters, condition.values)
    case 'gt':
      return `${column.sql} > ${parameters.bind(column, condition.bound)}`
    case 'lte':
      return `${column.sql} <= ${parameters.bind(column, condition.bound)}`
  }
}

function oneOf(column: SqlColumn, parameters: Parameters, values: readonly unknown[]): string {
  const solid = values.filter((value) => value !== null)
  const any = `${column.sql} = any(${parameters.bindAll(column, solid)})`
  return solid.length === values.length ? any : `(${any} or ${column.sql} is null)`
}

export function columnOf(table: SqlTable, name: string): SqlColumn {
  const column = table.columns.get(name)
  if (!column) throw new TypeError(`${table.shape.name}: "${name}" is not declared`)
  return column
}
