import { type Condition, checkGuard } from '../../src/checks/check-write.js'
import { shapeReader } from '../../src/checks/shape.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'

/**
 * Reads guards of a collection: a condition for each field, with its declaration, in the order of the guard. All of
 * them have to hold. A list may be empty, which holds for nothing, and may hold null; null equals null. The function it
 * gives throws a `TypeError` for a guard that is empty, or tests a field in a way that its kind does not allow.
 *
 * @example
 * import { guardConditions } from 'postern/stores'
 *
 * declare const spec: import('postern').AnyCollectionSpec
 * const conditionsOf = guardConditions(spec)
 * const clauses = conditionsOf({ userId: 'ada', attempts: { lte: 3 } }).map((condition) => {
 *   const name = `"${condition.column.name}"`
 *   return condition.form === 'lte' ? `${name} <= ${condition.bound}` : name
 * })
 */
export function guardConditions(spec: AnyCollectionSpec): (guard: object) => readonly Condition[] {
  const shape = shapeReader()(spec)
  return (guard) => checkGuard(shape, guard)
}
