import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock } from 'postern'

/**
 * A clock as a straight line over this machine's monotonic time, which all processes share: two
 * clocks on one line agree exactly, and a test knows what both show.
 */
export interface ClockLine {
  /** Epoch milliseconds the clock showed when the machine's monotonic time was `since`. */
  readonly epoch: number
  /** As `monotonic()` gives it. */
  readonly since: number
  /** Clock milliseconds to a real one; 0 stands still. */
  readonly rate: number
}

export interface MovingClock extends Clock {
  /** Steps or changes pace at once, forwards or backwards. */
  set(line: ClockLine): void
  /** Everything `work` does, and what it sets going, sees a clock ahead by `ms`. */
  ahead<T>(ms: number, work: () => T): T
}

/** Milliseconds of the machine's monotonic time, the same in every process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export function lineFrom(epoch: number, rate = 1): ClockLine {
  return { epoch, since: monotonic(), rate }
}

export function stoppedAt(epoch: number): ClockLine {
  return { epoch, since: 0, rate: 0 }
}

/** What a clock on this line shows, whole milliseconds; with fractions on request. */
export function shownBy(line: ClockLine, at: number = monotonic()): number {
  return line.epoch + (at - line.since) * line.rate
}

/** Shorter ones limit how long a caller waits for an answer, and callers wait in real time. */
const pacedFromMs = 10_000

/**
 * Timers run in real time, at whatever pace the clock goes; with `pacesTimers` those for work of the background go at the
 * clock's.
 */
export function movingClock(start: ClockLine, pacesTimers = false): MovingClock {
  const ahead = new AsyncLocalStorage<number>()
  let line = start
  return {
    now: () => Math.floor(shownBy(line)) + (ahead.getStore() ?? 0),
    after(ms, run) {
      const realMs = pacesTimers && ms >= pacedFromMs ? ms / line.rate : ms
      const timer = setTimeout(run, Math.min(realMs, 2 ** 31 - 1))
      timer.unref()
      return () => clearTimeout(timer)
    },
    set(next) {
      line = next
    },
    ahead: (ms, work) => ahead.run(ms, work),
  }
}
