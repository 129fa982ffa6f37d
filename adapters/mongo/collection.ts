import type { Filter } from 'mongodb'
import type { Column } from '../../src/checks/check-value.js'
import type { Condition } from '../../src/checks/check-write.js'
import type { Row } from '../../src/checks/shape.js'
import type { Collection, Doc } from '../../src/ports/store.js'
import { collectionOf } from '../shared/checked-calls.js'
import type { BoundCollection } from './bound-collection.js'
import { isTaken, type StoredDocument } from './handle.js'
import { countExpired, expiredBy, removeExpired } from './sweep.js'
import { encoded, rowOf, storedFields, storedName } from './values.js'

// More than any caller asks for, and the most that every server accepts.
const mostDue = 100_000

/** Each call but `sweep` is one command on one document or one page, atomic by itself. */
export function mongoCollection<T extends Doc>(bound: BoundCollection): Collection<T> {
  const { shape, open } = bound
  const read = (stored: StoredDocument): Row => rowOf(shape, stored)
  const orNull = (stored: StoredDocument | null): Row | null => stored && read(stored)
  return collectionOf(shape, {
    async get(id) {
      return orNull(await (await open()).findOne({ _id: { $eq: id } }))
    },
    async find(conditions, page) {
      const { limit, after, newestFirst } = page
      const beyond = after === undefined ? [] : [newestFirst ? { $lt: after } : { $gt: after }]
      const filter = filterOf(conditions, ...beyond.map((test) => ({ _id: test })))
      // A batch as large as the page: it all comes with the first answer.
      const options = { sort: { _id: newestFirst ? -1 : 1 }, limit, batchSize: limit } as const
      return (await (await open()).find(filter, options).toArray()).map(read)
    },
    async insert(row, id) {
      try {
        await (await open()).insertOne({ ...storedFields(shape, row), _id: id })
        return true
      } catch (error) {
        if (isTaken(error)) return false
        throw error
      }
    },
    async update(id, conditions, changes) {
      const filter = filterOf(conditions, { _id: { $eq: id } })
      const change = { $set: storedFields(shape, changes) }
      const options = { returnDocument: 'after', includeResultMetadata: false } as const
      try {
        return orNull(await (await open()).findOneAndUpdate(filter, change, options))
      } catch (error) {
        if (isTaken(error)) return null
        throw error
      }
    },
    async take(id, conditions) {
      const filter = filterOf(conditions, { _id: { $eq: id } })
      return orNull(await (await open()).findOneAndDelete(filter, { includeResultMetadata: false }))
    },
    async due(before, limit) {
      const most = Math.min(limit, mostDue)
      const options = { sort: { expiresAt: 1, _id: 1 }, limit: most, batchSize: most } as const
      return (await (await open()).find(expiredBy(before), options).toArray()).map(read)
    },
    async sweep(before, limit) {
      const documents = await open()
      const { removed, complete } = await removeExpired(documents, before, limit)
      return { removed, left: complete ? 0 : await countExpired(documents, before) }
    },
  })
}

type Tests = Filter<StoredDocument>

/** BSON's type number of null. */
const nullType = 10

/** A filter under which every condition holds. `more` are tests that are filters already. */
function filterOf(conditions: readonly Condition[], ...more: readonly Tests[]): Tests {
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
