import { type Condition, checkGuard } from '../../src/checks/check-write.js'
import { shapeReader } from '../../src/checks/shape.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'

export type { Column } from '../../src/checks/check-value.js'
export type { Condition } from '../../src/checks/check-write.js'
export type { Index } from '../../src/checks/shape.js'
export { allCollectionSpecs } from '../../src/model/collections.js'
export { collectionLease, type LeaseDoc, leaseSpec } from '../shared/collection-lease.js'
export { entriesToPut, mergeEntries } from '../shared/denylist-entries.js'
export { NotMigratedError } from '../shared/not-migrated-error.js'
export { TextTooLongError } from '../shared/text-too-long-error.js'
export { checkedPorts } from './checked-ports.js'
export { type CounterDoc, collectionCounter, counterSpec } from './collection-counter.js'
export { collectionDenylist, type DenylistDoc, denylistSpec } from './collection-denylist.js'
export { type FoundCollection, missingSteps, type SchemaStep } from './missing-steps.js'

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

/**
 * Sends a statement again that the database itself rolled back, such as the victim of a deadlock: it wrote nothing, so
 * it may be repeated. `isRolledBack` says so of the driver's error, and must be false wherever the statement may have been
 * carried out: a lost connection, a time-out. Rejects with the last error after `tries` of them, 3 by default.
 */
export async function retryRolledBack<Result>(
  isRolledBack: (error: unknown) => boolean,
  send: () => Promise<Result>,
  tries = 3,
): Promise<Result> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await send()
    } catch (error) {
      if (left <= 0 || !isRolledBack(error)) throw error
    }
  }
}
