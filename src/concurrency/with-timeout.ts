import { TimeoutError } from '../errors/index.js'
import type { Clock } from '../ports/host.js'

/** Resolves as `answer` does; rejects with a `TimeoutError` after `ms` milliseconds without one. */
export async function withTimeout<T>(answer: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let cancel = (): void => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => reject(new TimeoutError(`no answer within ${ms} ms`)))
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}
