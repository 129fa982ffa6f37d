import { checkSweep } from '../../src/checks/check-call.js'
import type { Shape } from '../../src/checks/shape.js'
import type { SweepResult } from '../../src/ports/store.js'
import type { Keys } from './keys.js'
import { idsExpired, sweepRows } from './lua.js'
import type { Run } from './script.js'
import { listOf } from './texts.js'

const mostLeft = 100_000
/** A script blocks its server, so a batch is small enough that other callers do not wait long. */
const batch = 100

/** Looks for what expired, then removes it batch by batch, each document being asked once more. */
export function sweepOf(
  run: Run,
  shape: Shape,
  keys: Keys,
  indexNames: string,
): (before: number, limit: number) => Promise<SweepResult> {
  const shared = [keys.schema, keys.expiries, keys.unique, keys.indexed]
  return async (before, limit) => {
    checkSweep(shape, before, limit)
    const args = [String(before), String(limit)]
    const ids = listOf(await run(idsExpired, [keys.schema, keys.expiries], args))
    let removed = 0
    let left = 0
    for (let at = 0; at < ids.length; at += batch) {
      const some = ids.slice(at, at + batch)
      const documents = some.map(keys.document)
      const names = [indexNames, String(before), ...some]
      const [gone, rest] = numbersOf(await run(sweepRows, [...shared, ...documents], names))
      removed += gone ?? 0
      left = rest ?? 0
    }
    return { removed, left: Math.min(left, mostLeft) }
  }
}

/** Clients may be set up to give integers as texts. */
function numbersOf(reply: unknown): readonly number[] {
  return Array.isArray(reply) ? reply.map(Number) : []
}
