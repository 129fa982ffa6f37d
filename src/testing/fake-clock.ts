import type { Clock } from '../ports/host.js'

/** A clock that moves only by `advance`. */
export interface FakeClock extends Clock {
  /**
   * Moves forward by `ms` milliseconds. Timers on the way run at their own time, in order. After each,
   * the work that it started runs as far as it gets without time or I/O. Resolves when all of that is
   * done. Rejects with what a timer throws, and with a `RangeError` where `ms` is negative or not whole.
   */
  advance(ms: number): Promise<void>
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

/**
 * A clock for tests. `start` is in epoch milliseconds, a whole number, or this throws a `RangeError`. Default
 * 2030-01-01T00:00:00Z.
 */
export function fakeClock(start = Date.UTC(2030, 0, 1)): FakeClock {
  if (!Number.isSafeInteger(start)) throw new RangeError('start must be whole epoch milliseconds')
  let time = start
  const timers = new Set<Timer>()
  const nextBefore = (end: number): Timer | null => {
    // Strictly earlier: if timers have one due time, the first that was set runs first.
    let next: Timer | null = null
    for (const timer of timers) {
      if (timer.at <= end && (next === null || timer.at < next.at)) next = timer
    }
    return next
  }
  return {
    now: () => time,
    after(ms, run) {
      // A system's timers drop the fraction too. The time stays a whole number.
      const timer = { at: time + Math.max(0, Math.trunc(ms)), run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      if (!Number.isSafeInteger(ms) || ms < 0) {
        throw new RangeError('ms must be whole milliseconds: a fake clock only moves forward')
      }
      const end = time + ms
      // Work in progress may still be about to set its timer.
      await settled()
      for (let timer = nextBefore(end); timer; timer = nextBefore(end)) {
        timers.delete(timer)
        time = Math.max(time, timer.at)
        timer.run()
        await settled()
      }
      time = end
      await settled()
    },
  }
}

/** By the time an immediate runs, every microtask queued before it, and by those, has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
