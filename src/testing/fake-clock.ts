import type { Clock } from '../ports/clock.js'

/** A clock that moves only when told to. */
export interface FakeClock extends Clock {
  /**
   * Moves forward by `ms` milliseconds. Timers due on the way run at their own time, in order; what
   * each set going is let run, as far as it goes without waiting for time or for I/O, before the
   * next. Resolves when that is done. Rejects with what a timer throws.
   */
  advance(ms: number): Promise<void>
}

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Starts at `start`, in epoch milliseconds: 2030-01-01T00:00:00Z by default. */
export function fakeClock(start = Date.UTC(2030, 0, 1)): FakeClock {
  let time = start
  const timers = new Set<Timer>()
  const nextBefore = (end: number): Timer | null => {
    // Strictly earlier: of timers due together the one set first runs first.
    let next: Timer | null = null
    for (const timer of timers) {
      if (timer.at <= end && (next === null || timer.at < next.at)) next = timer
    }
    return next
  }
  return {
    now: () => time,
    after(ms, run) {
      const timer = { at: time + Math.max(0, ms), run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError('a fake clock only moves forward')
      const end = time + ms
      // What is under way may still be about to set its timer.
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
