import type { Condition } from '../../src/checks/check-write.js'
import { asksForNull } from '../shared/form-of.js'
import { encoded, type SqlColumn, sqlTypes } from './columns.js'
import type { SqlTable } from './table.js'

/** The `$n` of one statement's text, in the order in which its values are sent. */
export class Placeholders {
  #count = 0

  of(column: SqlColumn): string {
    return this.next(sqlTypes[column.kind])
  }

  next(type: string): string {
    this.#count += 1
    return `$${this.#count}::${type}`
  }
}

/** `id = … and …` */
export function whereId(
  table: SqlTable,
  placeholders: Placeholders,
  conditions: readonly Condition[],
): string {
  const id = columnOf(table, 'id')
  const tests = [`${id.sql} = ${placeholders.of(id)}`]
  return [...tests, ...testsOf(table, placeholders, conditions)].join(' and ')
}

export function testsOf(
  table: SqlTable,
  placeholders: Placeholders,
  conditions: readonly Condition[],
): readonly string[] {
  return conditions.map((condition) => test(table, placeholders, condition))
}

/** The values that the tests of these conditions compare with, in the order of their `$n`. */
export function valuesOf(table: SqlTable, conditions: readonly Condition[]): unknown[] {
  const values: unknown[] = []
  for (const condition of conditions) {
    const column = columnOf(table, condition.column.name)
    if (condition.form === 'in') {
      const solid = condition.values.filter((value) => value !== null)
      values.push(solid.map((value) => encoded(column, value)))
    } else if (condition.form !== 'equals') {
      values.push(encoded(column, condition.bound))
    } else if (condition.value !== null) {
      values.push(encoded(column, condition.value))
    }
  }
  return values
}

/**
 * `=` or `is null` by the value: `is not distinct from` would serve both, but never uses an index,
 * and turns a missing value into one that matches null.
 */
function test(table: SqlTable, placeholders: Placeholders, condition: Condition): string {
  const column = columnOf(table, condition.column.name)
  const isNull = `${column.sql} is null`
  switch (condition.form) {
    case 'equals':
      return asksForNull(condition) ? isNull : `${column.sql} = ${placeholders.of(column)}`
    case 'in': {
      const isOneOf = `${column.sql} = any(${placeholders.next(`${sqlTypes[column.kind]}[]`)})`
      return asksForNull(condition) ? `(${isOneOf} or ${isNull})` : isOneOf
    }
    case 'gt':
      return `${column.sql} > ${placeholders.of(column)}`
    case 'lte':
      return `${column.sql} <= ${placeholders.of(column)}`
  }
}

export function columnOf(table: SqlTable, name: string): SqlColumn {
  const column = table.columns.get(name)
  if (!column) throw new TypeError(`${table.shape.name}: "${name}" is not declared`)
  return column
}
