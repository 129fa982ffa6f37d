import { describeError } from '../errors.js'
import type { Logger } from '../ports/telemetry.js'

export interface Background {
  /** Runs work nobody waits for. A failure is logged and goes no further. */
  run(what: string, work: () => Promise<void>): void
  /** Resolves when nothing is running any more, what running work started included. */
  drain(): Promise<void>
}

export function createBackground(logger: Logger): Background {
  const running = new Set<Promise<void>>()
  return {
    run(what, work) {
      const task = (async () => work())()
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
