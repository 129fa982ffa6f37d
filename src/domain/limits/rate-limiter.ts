import { sha256 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { Clock } from '../../ports/clock.js'
import type { Counter, CounterResult } from '../../ports/counter.js'
import type { Logger } from '../../ports/logger.js'
import type { Surface } from '../../ports/surface.js'
import { fallbackCounter } from './fallback-counter.js'

/** At most `limit` hits within `windowMs` milliseconds. */
export interface RateLimit {
  readonly limit: number
  readonly windowMs: number
}

/** The rate limits. Names with `…PerIp` count network addresses, the others what they name. */
export type RateLimitName =
  | 'registerPerIp'
  | 'recoveryPerIp'
  | 'recoveryPerAddress'
  | 'refreshPerIp'
  | 'refreshFamily'
  | 'oauthPerIp'
  | 'selfPerUser'
  | 'adminPerUser'
  | 'mfaPerUser'
  | 'grantPerIp'

/** All rate limits of a surface by name. */
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>

const minute = 60_000

/** What the host may override. The login rate is a live setting and not among them. */
export function defaultRateLimits(surface: Surface): RateLimits {
  return {
    registerPerIp: { limit: surface === 'operator' ? 5 : 10, windowMs: 10 * minute },
    recoveryPerIp: { limit: 5, windowMs: 15 * minute },
    recoveryPerAddress: { limit: 3, windowMs: 60 * minute },
    refreshPerIp: { limit: 600, windowMs: minute },
    refreshFamily: { limit: 60, windowMs: minute },
    oauthPerIp: { limit: 30, windowMs: minute },
    selfPerUser: { limit: 120, windowMs: minute },
    adminPerUser: { limit: 60, windowMs: minute },
    mfaPerUser: { limit: 10, windowMs: 5 * minute },
    grantPerIp: { limit: 60, windowMs: minute },
  }
}

export interface RateLimiter {
  /** Counts a hit under a named limit; throws `rate_limited` when it is used up. */
  check(name: RateLimitName, subject: string): Promise<void>
  /** The same with numbers of the caller's; resolves to the window as this hit left it. */
  checkWith(name: string, subject: string, limit: RateLimit): Promise<CounterResult>
  /** Hands back `hits` of what `checkWith` counted, or all of it. Failures are logged only. */
  forgive(name: string, subject: string, hits?: number): Promise<void>
}

interface Deps {
  readonly surface: Surface
  readonly counter: Counter
  readonly clock: Clock
  readonly logger: Logger
  readonly overrides: Partial<RateLimits>
}

export function createRateLimiter(deps: Deps): RateLimiter {
  const { surface, counter, clock, logger } = deps
  const named: RateLimits = { ...defaultRateLimits(surface), ...deps.overrides }
  const fallback = fallbackCounter()

  // Hashed: bounded length, and no address is kept in the counter's keys.
  const keyOf = (name: string, subject: string): string => `${surface}:${name}:${sha256(subject)}`

  async function hit(key: string, limit: RateLimit): Promise<CounterResult> {
    const now = clock.now()
    try {
      return await counter.hit(key, limit.windowMs, limit.limit, now)
    } catch (error) {
      logger.warn(
        'the rate-limit counter cannot be reached; counting in this process',
        describeError(error),
      )
      return fallback.hit(key, limit.windowMs, limit.limit, now)
    }
  }

  async function checkWith(
    name: string,
    subject: string,
    limit: RateLimit,
  ): Promise<CounterResult> {
    const result = await hit(keyOf(name, subject), limit)
    if (result.allowed) return result
    const wait = Math.max(1, Math.ceil((result.resetsAt - clock.now()) / 1000))
    throw new AuthError('rate_limited', { retryAfter: wait })
  }

  return {
    async check(name, subject) {
      await checkWith(name, subject, named[name])
    },
    checkWith,
    async forgive(name, subject, hits) {
      const key = keyOf(name, subject)
      await fallback.forgive(key, hits)
      try {
        await counter.forgive(key, hits)
      } catch (error) {
        logger.warn('a counted attempt could not be handed back', describeError(error))
      }
    },
  }
}
