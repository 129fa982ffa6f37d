import { type Linked, linkedLine } from '../concurrency/linked-line.js'
import type { Clock } from '../ports/host.js'

/** Calls that each have to be answered within one and the same time. */
export interface Deadlines {
  /** Calls `expire` once that time has passed, unless the returned function was called before. */
  add(expire: () => void): () => void
}

interface Pending extends Linked<Pending> {
  at: number
  readonly expire: () => void
}

/**
 * One timer for all calls. Every call gets the same time, so the oldest is the first that is due, and a
 * timer that fires finds it at the head of the line. A timer of its own for each call to a store would be
 * the dearest part of a guarded request.
 */
export function createDeadlines(clock: Clock, ms: number): Deadlines {
  const line = linkedLine<Pending>()
  let isArmed = false

  function arm(delay: number): void {
    isArmed = true
    clock.after(Math.max(0, delay), expireDue)
  }

  function expireDue(): void {
    isArmed = false
    const now = clock.now()
    for (let pending = line.first(); pending !== null; pending = line.first()) {
      // Where the clock was set back, a call waits for one more round at most.
      pending.at = Math.min(pending.at, now + ms)
      if (pending.at > now) {
        arm(pending.at - now)
        return
      }
      line.remove(pending)
      pending.expire()
    }
  }

  return {
    add(expire) {
      const pending: Pending = { at: clock.now() + ms, expire, before: null, after: null }
      line.add(pending)
      if (!isArmed) arm(ms)
      return () => line.remove(pending)
    },
  }
}
