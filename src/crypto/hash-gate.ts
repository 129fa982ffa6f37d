import { AuthError, OptionsError } from '../errors/index.js'
import type { Clock } from '../ports/clock.js'

export interface HashGateOptions {
  /** How many run at once; 1 to 1,024. */
  readonly concurrency: number
  /** How many may wait; 0 to 10,000. */
  readonly queue?: number
  /** The longest one waits, in milliseconds; 1 to 60,000. */
  readonly maxWaitMs?: number
  readonly clock: Clock
}

/**
 * Runs `work` when its turn comes and answers with its result. Throws `server_busy` without running
 * it when the queue is full or the turn does not come in time.
 */
export type HashGate = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Admission to the one expensive thing the library does. Unlimited password hashing would
 * take every thread and most of the memory, and a flood of logins would stall requests that need
 * no hash. First come, first served; work that fails frees its place like work that succeeds.
 */
export function hashGate(options: HashGateOptions): HashGate {
  const { concurrency, queue = 64, maxWaitMs = 2000, clock } = options
  requireBetween('hash.concurrency', concurrency, 1, 1024)
  requireBetween('hash.queue', queue, 0, 10_000)
  requireBetween('hash.maxWaitMs', maxWaitMs, 1, 60_000)
  let running = 0
  // A set keeps the order of arrival and forgets one who gave up without a search.
  const waiting = new Set<() => void>()

  async function enter(): Promise<void> {
    if (running < concurrency) {
      running += 1
      return
    }
    if (waiting.size >= queue) throw busy()
    await new Promise<void>((resolve, reject) => {
      const giveUp = () => {
        waiting.delete(proceed)
        reject(busy())
      }
      const cancelTimer = clock.after(maxWaitMs, giveUp)
      const proceed = () => {
        waiting.delete(proceed)
        cancelTimer()
        resolve()
      }
      waiting.add(proceed)
    })
  }

  /** The place goes straight to the next in line, so that no newcomer can slip in between. */
  function leave(): void {
    const [next] = waiting
    if (next === undefined) running -= 1
    else next()
  }

  return async (work) => {
    await enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

function busy(): AuthError {
  return new AuthError('server_busy')
}

function requireBetween(option: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new OptionsError(option, `must be a whole number from ${min} to ${max}.`)
  }
}
