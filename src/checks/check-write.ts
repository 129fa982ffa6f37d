import type { Scalar } from '../ports/store.js'
import { type Column, checkValue } from './check-value.js'
import type { Row, Shape } from './shape.js'

/** One field's test of a guard, its values checked. A list may be empty and may hold null. */
export type Condition =
  | { readonly column: Column; readonly form: 'equals'; readonly value: Scalar }
  | { readonly column: Column; readonly form: 'in'; readonly values: readonly Scalar[] }
  | { readonly column: Column; readonly form: 'gt' | 'lte'; readonly bound: number }

/** Checks a whole document; every declared field must be there and nothing else. */
export function checkDocument(shape: Shape, doc: object): Row {
  const place = `${shape.name}.insert`
  const row: Row = { ...doc }
  for (const name of Object.keys(row)) columnOf(shape, name, place)
  for (const column of shape.columns.values()) {
    checkField(shape, column, row[column.name], place)
  }
  return row
}

/** Checks the fields an update sets. */
export function checkSet(shape: Shape, set: object): Row {
  const place = `${shape.name}.update, set`
  const row: Row = { ...set }
  const names = Object.keys(row)
  if (names.length === 0) throw new TypeError(`${place}: is empty`)
  for (const name of names) {
    const column = columnOf(shape, name, place)
    if (name === 'id') throw new TypeError(`${place}: "id" never changes`)
    if (name === 'expiresAt' && shape.expires === 'fixed') {
      throw new TypeError(`${place}: "expiresAt" is fixed, so only insert writes it`)
    }
    checkField(shape, column, row[name], place)
  }
  return row
}

/** The tests of a guard, all of which must hold. */
export function checkGuard(shape: Shape, guard: object): readonly Condition[] {
  const place = `${shape.name}, guard`
  const tests = Object.entries(guard)
  if (tests.length === 0) throw new TypeError(`${place}: is empty`)
  return tests.map(([name, test]) => conditionOf(columnOf(shape, name, place), test, place))
}

/** The values `find` compares with, once they are known to be the fields of one declared index. */
export function checkEqual(shape: Shape, equal: object): readonly Condition[] {
  const place = `${shape.name}.find`
  const row: Row = { ...equal }
  const names = Object.keys(row)
  const index = shape.indexes.find(
    ({ on }) => on.length === names.length && on.every((name) => names.includes(name)),
  )
  if (!index) throw new TypeError(`${place}: no index is on exactly (${names.join(', ')})`)
  return index.on.map((name) => equals(columnOf(shape, name, place), row[name], place))
}

const mostAtOnce = 500

/** How many documents a call for many is for. */
export function checkMany(shape: Shape, given: readonly unknown[]): void {
  if (Array.isArray(given) && given.length >= 1 && given.length <= mostAtOnce) return
  throw new TypeError(`${shape.name}, many: takes 1 to ${mostAtOnce} documents`)
}

/** The condition of `many.find`: one of the values of a field that no two documents share. */
export function checkAmong(shape: Shape, field: string, values: readonly string[]): Condition {
  checkMany(shape, values)
  const place = `${shape.name}, many.find`
  const isUnique = shape.indexes.some(({ on, unique }) => unique && on.join() === field)
  if (field !== 'id' && !isUnique) {
    throw new TypeError(`${place}: "${field}" has no unique index of its own`)
  }
  return oneOf(columnOf(shape, field, place), values, place)
}

function checkField(shape: Shape, column: Column, value: unknown, place: string): void {
  checkValue(column, value, place)
  if (column.name === 'expiresAt' && shape.expires === 'never' && value !== null) {
    throw new TypeError(`${place}: "expiresAt" is always null in this collection`)
  }
}

function columnOf(shape: Shape, name: string, place: string): Column {
  const column = shape.columns.get(name)
  if (!column) throw new TypeError(`${place}: "${name}" is not declared`)
  return column
}

function conditionOf(column: Column, test: unknown, place: string): Condition {
  if (column.kind === 'json') {
    throw new TypeError(`${place}: "${column.name}" is json, which cannot be tested`)
  }
  if (typeof test !== 'object' || test === null) return equals(column, test, place)
  const [[form, operand] = [], ...more] = Object.entries(test)
  if (more.length === 0) {
    if (form === 'in' && Array.isArray(operand)) return oneOf(column, operand, place)
    if (form === 'gt' || form === 'lte') return bounded(column, form, operand, place)
  }
  throw new TypeError(
    `${place}: "${column.name}" takes a value, { in: […] }, or for numbers { gt } or { lte }`,
  )
}

function equals(column: Column, value: unknown, place: string): Condition {
  checkValue(column, value, place)
  return { column, form: 'equals', value: value as Scalar }
}

function oneOf(column: Column, values: readonly unknown[], place: string): Condition {
  // Array.from turns holes into undefined, which is refused.
  for (const value of Array.from(values)) checkValue(column, value, place)
  return { column, form: 'in', values: values as readonly Scalar[] }
}

function bounded(column: Column, form: 'gt' | 'lte', bound: unknown, place: string): Condition {
  if (column.kind !== 'integer' && column.kind !== 'time') {
    throw new TypeError(`${place}: "${column.name}" is no number, so it has no bounds`)
  }
  checkValue({ ...column, nullable: false }, bound, place)
  return { column, form, bound: bound as number }
}
