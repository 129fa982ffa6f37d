import type { Filter } from 'mongodb'
import type { Column } from '../../src/checks/check-value.js'
import type { Condition } from '../../src/checks/check-write.js'
import type { StoredDocument } from './handle.js'
import { encoded, storedName } from './values.js'

type Tests = Filter<StoredDocument>

/** BSON's type number of null. */
const nullType = 10

/** A filter under which every condition holds. `more` are tests that are filters already. */
export function filterOf(conditions: readonly Condition[], ...more: readonly Tests[]): Tests {
  return { $and: [...more, ...conditions.map(testOf)] }
}

function testOf(condition: Condition): Tests {
  const { column } = condition
  switch (condition.form) {
    case 'equals':
      return oneOf(column, [condition.value])
    case 'in':
      return oneOf(column, condition.values)
    case 'gt':
      return bounded(column, { $gt: encoded(column, condition.bound) }, (value) => {
        return value > condition.bound
      })
    case 'lte':
      return bounded(column, { $lte: encoded(column, condition.bound) }, (value) => {
        return value <= condition.bound
      })
  }
}

/**
 * A field that is not there reads as its default, so it has to be found by that: MongoDB by itself
 * takes it for null, and for nothing else.
 */
function oneOf(column: Column, values: readonly unknown[]): Tests {
  const name = storedName(column)
  const solid = values.filter((value) => value !== null)
  const defaulted = column.default ?? null
  const tests: Tests[] = []
  if (solid.length === 1) tests.push({ [name]: { $eq: encoded(column, solid[0]) } })
  if (solid.length > 1) tests.push({ [name]: { $in: solid.map((one) => encoded(column, one)) } })
  if (solid.length < values.length) {
    tests.push({ [name]: defaulted === null ? { $eq: null } : { $type: nullType } })
  }
  if (defaulted !== null && solid.includes(defaulted)) tests.push({ [name]: { $exists: false } })
  return anyOf(tests)
}

function bounded(column: Column, test: object, holds: (value: number) => boolean): Tests {
  const name = storedName(column)
  const within: Tests = { [name]: test }
  const reachesDefault = typeof column.default === 'number' && holds(column.default)
  return reachesDefault ? anyOf([within, { [name]: { $exists: false } }]) : within
}

/** Holds for nothing when there are no tests, as `in` of an empty list. */
function anyOf(tests: readonly Tests[]): Tests {
  const [first = { _id: { $in: [] } }, ...more] = tests
  return more.length === 0 ? first : { $or: [first, ...more] }
}
