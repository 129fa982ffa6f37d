import { describeError } from '../errors/index.js'
import type { Logger } from '../ports/host.js'

export interface BackgroundTasks {
  /**
   * Runs work in a later turn of the event loop, without a caller that waits. It delays no reply, so
   * the time of a reply reveals nothing about it. A failure is logged and goes no further.
   */
  run(what: string, work: () => Promise<void>): void
  /** Resolves when no work is running any more, including work that running work started. */
  drain(): Promise<void>
}

/** `later` calls what it is given in a later turn. */
export function createBackgroundTasks(
  logger: Logger,
  later: (run: () => void) => void,
): BackgroundTasks {
  const running = new Set<Promise<void>>()
  return {
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
