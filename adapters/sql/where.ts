import type { Condition } from '../../src/checks/check-write.js'
import { asksForNull } from '../shared/form-of.js'
import type { SqlValue } from './sql-run.js'
import { columnOf, type SqlTable } from './table.js'
import { encoded } from './values.js'

/** The tests of some conditions, each with a `?` for every value of `valuesOf`. */
export function testsOf(table: SqlTable, conditions: readonly Condition[]): readonly string[] {
  return conditions.map((condition) => testOf(table, condition))
}

/** `= ?` or `is null`, by the value: what serves both in one is written differently in each database. */
function testOf(table: SqlTable, condition: Condition): string {
  const { sql } = columnOf(table, condition.column.name)
  const isNull = `${sql} is null`
  switch (condition.form) {
    case 'equals':
      return condition.value === null ? isNull : `${sql} = ?`
    case 'in': {
      const solid = condition.values.filter((value) => value !== null)
      const isOneOf = solid.length > 0 ? `${sql} in (${solid.map(() => '?').join(', ')})` : '1 = 0'
      return asksForNull(condition) ? `(${isOneOf} or ${isNull})` : isOneOf
    }
    case 'gt':
      return `${sql} > ?`
    case 'lte':
      return `${sql} <= ?`
  }
}

/** The values that these conditions compare with, in the order of their `?`. */
export function valuesOf(conditions: readonly Condition[]): SqlValue[] {
  return conditions.flatMap((condition) => {
    const { column } = condition
    if (condition.form === 'in') {
      return condition.values.filter((value) => value !== null).map((one) => encoded(column, one))
    }
    if (condition.form !== 'equals') return [encoded(column, condition.bound)]
    return condition.value === null ? [] : [encoded(column, condition.value)]
  })
}
