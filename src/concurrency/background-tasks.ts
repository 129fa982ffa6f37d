import { describeError } from '../errors/index.js'
import type { Clock, Logger } from '../ports/host.js'

export interface BackgroundTasks {
  /**
   * Runs work in a later turn of the event loop, without a caller that waits. It delays no reply, so
   * the time of a reply reveals nothing about it. A failure is logged and goes no further.
   */
  run(what: string, work: () => Promise<void>): void
  /** Resolves when no work is running any more, including work that running work started. */
  drain(): Promise<void>
  /** Calls `run` in a later turn of the event loop. */
  readonly later: (run: () => void) => void
}

export function createBackgroundTasks(
  logger: Logger,
  later: (run: () => void) => void,
): BackgroundTasks {
  const running = new Set<Promise<void>>()
  return {
    later,
    run(what, work) {
      const turn = new Promise<void>((resolve) => later(resolve))
      const task = turn
        .then(work)
        .catch((error: unknown) => {
          logger.error(`${what} failed`, describeError(error))
        })
        .finally(() => {
          running.delete(task)
        })
      running.add(task)
    },
    async drain() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** The one wait of a background loop, which others may cut short. */
export interface WakeableTimer {
  /** Resolves `ms` milliseconds from now, or at the next `wake`. One wait at a time. */
  wait(ms: number): Promise<void>
  /** Ends the wait under way, if there is one. */
  wake(): void
}

export function createWakeableTimer(clock: Clock): WakeableTimer {
  let wake = (): void => {}
  return {
    wait: (ms) =>
      new Promise<void>((resolve) => {
        const cancel = clock.after(Math.max(0, ms), resolve)
        wake = () => {
          // Resolving is not enough: a timer left behind would keep this closure for hours.
          cancel()
          resolve()
        }
      }),
    wake: () => wake(),
  }
}

/**
 * Does work of one name one after the other, and work of different names side by side. `waited` tells the
 * work that other work of its name came first.
 */
export type WithLock = <T>(name: string, work: (waited: boolean) => Promise<T>) => Promise<T>

/**
 * Writers of one process would only make each other's compare-and-set fail. Between processes that
 * is for the compare-and-set alone: nothing depends on the lock.
 */
export function createKeyedMutex(): WithLock {
  const ends = new Map<string, Promise<unknown>>()
  return async (name, work) => {
    const before = ends.get(name)
    const mine = (before ?? Promise.resolve()).then(() => work(before !== undefined))
    const end = mine.then(nothing, nothing)
    ends.set(name, end)
    try {
      return await mine
    } finally {
      if (ends.get(name) === end) ends.delete(name)
    }
  }
}

function nothing(): void {}
