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

/** The attempts of one subject in this process, while there is one that is made or that asks to be. */
interface Attempts {
  readonly underWay: Set<Promise<void>>
  /** How many were handed back. */
  handedBack: number
  present: number
}

export function createFailureThrottle(
  { limits }: { readonly limits: RateLimiter },
  name: string,
): FailureThrottle {
  const subjects = new Map<string, Attempts>()

  function enter(subject: string): Attempts {
    const own = subjects.get(subject) ?? { underWay: new Set(), handedBack: 0, present: 0 }
    own.present += 1
    subjects.set(subject, own)
    return own
  }

  function leave(subject: string, own: Attempts): void {
    own.present -= 1
    if (own.present === 0) subjects.delete(subject)
  }

  /**
   * Counts one, or waits for one counted here to end and tries again. What the counter answers may be older than
   * an attempt that was handed back in the meantime: then it is asked again.
   */
  async function reserve(subject: string, limit: RateLimit, own: Attempts): Promise<() => void> {
    for (;;) {
      const { handedBack } = own
      try {
        await limits.checkWith(name, subject, limit)
        return begin(own)
      } catch (error) {
        await untilRoom(error, own, handedBack)
      }
    }
  }

  return {
    async attempt(subject, limit, make) {
      const own = enter(subject)
      try {
        const end = await reserve(subject, limit, own)
        let failed = false
        try {
          const result = await make()
          failed = !result.ok
          return result
        } finally {
          if (!failed) {
            await limits.forgive(name, subject, 1)
            own.handedBack += 1
          }
          end()
        }
      } finally {
        leave(subject, own)
      }
    },
  }
}

/** Resolves once there may be room again; throws the refusal where nothing here makes any. */
async function untilRoom(refusal: unknown, own: Attempts, handedBack: number): Promise<void> {
  const isLimit = refusal instanceof AuthError && refusal.code === 'rate_limited'
  const isOld = own.handedBack !== handedBack
  if (!isLimit || (own.underWay.size === 0 && !isOld)) throw refusal
  if (!isOld) await Promise.race(own.underWay)
}

function begin({ underWay }: Attempts): () => void {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  underWay.add(ended)
  return () => {
    underWay.delete(ended)
    end()
  }
}
