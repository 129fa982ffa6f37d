import { AuthError } from '../../errors/index.js'
import type { RateLimiter } from './rate-limiter.js'
import type { RateLimit } from './rate-limits.js'

/** Limits how often something may fail within a window; what succeeds is not counted. */
export interface FailureThrottle {
  /**
   * Runs an attempt that `ok` says the end of. It is counted before it is made, so that parallel
   * guesses cannot exceed the limit, and handed back unless it failed. Throws `rate_limited` without
   * making it when the failures are used up, whatever it would have come to. Attempts under way in
   * this process are waited for first: that many of one client, started at once, are no failures.
   */
  attempt<T extends { readonly ok: boolean }>(
    subject: string,
    limit: RateLimit,
    make: () => Promise<T>,
  ): Promise<T>
}

export function createFailureThrottle(
  { limits }: { readonly limits: RateLimiter },
  name: string,
): FailureThrottle {
  const underWay = new Map<string, Set<Promise<void>>>()

  /** Counts one, or waits for one counted here to end and tries again. */
  async function reserve(subject: string, limit: RateLimit): Promise<void> {
    for (;;) {
      try {
        await limits.checkWith(name, subject, limit)
        return
      } catch (error) {
        const others = underWay.get(subject)
        const isLimit = error instanceof AuthError && error.code === 'rate_limited'
        if (!isLimit || others === undefined) throw error
        await Promise.race(others)
      }
    }
  }

  function begin(subject: string): () => void {
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    const all = underWay.get(subject) ?? new Set()
    underWay.set(subject, all.add(ended))
    return () => {
      all.delete(ended)
      if (all.size === 0) underWay.delete(subject)
      end()
    }
  }

  return {
    async attempt(subject, limit, make) {
      await reserve(subject, limit)
      const end = begin(subject)
      let failed = false
      try {
        const result = await make()
        failed = !result.ok
        return result
      } finally {
        if (!failed) await limits.forgive(name, subject, 1)
        end()
      }
    },
  }
}
