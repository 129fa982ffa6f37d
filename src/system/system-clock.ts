import type { Clock } from '../ports/host.js'

/** Longest delay a Node timer takes; a longer one would fire at once. */
const longestDelay = 2 ** 31 - 1

/** The machine's clock. Its timers keep the process alive only for a caller who waits for them. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, awaited = false) {
    const timer = setTimeout(run, Math.min(ms, longestDelay))
    if (!awaited) timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Calls `run` in a later turn of the event loop, after the input and output that is waiting. */
export function later(run: () => void): void {
  setImmediate(run)
}
