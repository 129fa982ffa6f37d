import { setImmediate as turn } from 'node:timers/promises'
import type { Backend } from '../../../src/ports/backend.js'
import { type Call, withCall } from './faulty-backend.js'

/** A call as it was made: calls that wait for the answers of others are deeper than those. */
export interface TimedCall {
  readonly name: string
  /** In begun and finished calls so far: one call waited for another that had finished before. */
  readonly begunAt: number
  readonly finishedAt: number
}

export interface MeteredBackend {
  readonly backend: Backend
  /** The calls made since the last time they were taken. */
  take(): readonly TimedCall[]
}

/** Watches which calls of one request, and nothing else under way, wait for which. */
export function meteredBackend(inner: Backend): MeteredBackend {
  let calls: TimedCall[] = []
  let moment = 0
  const call: Call = async (name, work) => {
    moment += 1
    const begunAt = moment
    // Long enough for what runs side by side to begin, however many promises it goes through.
    await turn()
    try {
      return await work()
    } finally {
      moment += 1
      calls.push({ name, begunAt, finishedAt: moment })
    }
  }
  return {
    backend: withCall(inner, call),
    take() {
      const taken = calls
      calls = []
      return taken
    },
  }
}

/** How many round trips one after the other these calls make: those side by side are one. */
export function depthOf(calls: readonly TimedCall[]): number {
  const depths = new Map<TimedCall, number>()
  for (const call of calls.toSorted((a, b) => a.begunAt - b.begunAt)) {
    const waitedFor = [...depths].filter(([other]) => other.finishedAt < call.begunAt)
    depths.set(call, 1 + Math.max(0, ...waitedFor.map(([, depth]) => depth)))
  }
  return Math.max(0, ...depths.values())
}

/** The most of these calls that were under way at one time. */
export function widthOf(calls: readonly TimedCall[]): number {
  const widths = calls.map(
    ({ begunAt }) =>
      calls.filter((other) => other.begunAt <= begunAt && begunAt < other.finishedAt).length,
  )
  return Math.max(0, ...widths)
}
