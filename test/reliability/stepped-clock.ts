import { openSync, readSync } from 'node:fs'
import type { Clock } from 'postern'
import type { Call } from '../support/stores/faulty-backend.js'

/**
 * Time that stands still between steps and is the same in every process at once: epoch
 * milliseconds, one little-endian double. Nothing that follows it depends on how fast the machine
 * is, and a process that was stopped wakes up to the time it is then.
 */
export interface TimeFile {
  readonly timeFile: string
}

/** What a process tells when it has done all there was to do at the present time. */
export interface Settled {
  /** When its earliest timer is due; null when it has none. */
  readonly nextDue: number | null
}

export interface SteppedClock extends Clock {
  /** Runs the timers that are due, then waits for the calls they lead to, and for what those lead to. */
  settle(): Promise<Settled>
  /** To be put around every call of the backend that a timer may lead to. */
  readonly following: Call
}

export function steppedClock({ timeFile }: TimeFile): SteppedClock {
  const file = openSync(timeFile, 'r')
  const bytes = Buffer.alloc(8)
  const timers = new Set<{ readonly at: number; readonly run: () => void }>()
  const underWay = new Set<Promise<unknown>>()

  function now(): number {
    readSync(file, bytes, 0, 8, 0)
    return bytes.readDoubleLE()
  }

  function runDue(): void {
    const due = [...timers].filter(({ at }) => at <= now()).sort((a, b) => a.at - b.at)
    for (const timer of due) {
      // An earlier one may have cancelled it.
      if (timers.delete(timer)) timer.run()
    }
  }

  return {
    now,
    after(ms, run) {
      const timer = { at: now() + Math.max(0, ms), run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async following(_name, work) {
      const call = work()
      underWay.add(call)
      try {
        return await call
      } finally {
        underWay.delete(call)
      }
    },
    async settle() {
      for (;;) {
        runDue()
        // By then all that needs no I/O has run, up to the next call or the next timer.
        await new Promise((resolve) => setImmediate(resolve))
        const nextDue = timers.size === 0 ? null : Math.min(...[...timers].map(({ at }) => at))
        if (underWay.size > 0) await Promise.allSettled(underWay)
        else if (nextDue === null || nextDue > now()) return { nextDue }
      }
    },
  }
}
