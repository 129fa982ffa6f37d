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

/**
 * The rate limits. Names with `…PerIp` count network addresses, with `…PerSession` sessions, the others
 * what they name.
 */
export type RateLimitName = AddressLimitName | SessionLimitName | AccountLimitName

/** Of requests that know no account. */
export type AddressLimitName =
  | 'registerPerIp'
  | 'recoveryPerIp'
  | 'confirmPerIp'
  | 'refreshPerIp'
  | 'oauthPerIp'
  | 'mfaPerIp'
  | 'grantPerIp'
  | 'jwksPerIp'
  | 'logoutPerIp'

/** Of signed-in callers. */
export type SessionLimitName =
  | 'selfPerSession'
  | 'changePerSession'
  | 'endingPerSession'
  | 'mfaPerSession'
  | 'adminPerSession'

type AccountLimitName =
  | 'recoveryPerAddress'
  | 'refreshFamily'
  | 'mfaPerTicket'
  | 'mfaPerUser'
  | 'passwordChangePerUser'
  | 'addressChangePerUser'

/** All rate limits of a surface by name. */
export type RateLimits = Readonly<Record<RateLimitName, RateLimit>>

const minute = 60_000

/** What the host may override. The login rate is a live setting and not among them. */
export function defaultRateLimits(surface: Surface): RateLimits {
  return {
    registerPerIp: { limit: surface === 'operator' ? 5 : 10, windowMs: 10 * minute },
    recoveryPerIp: { limit: 5, windowMs: 15 * minute },
    recoveryPerAddress: { limit: 3, windowMs: 60 * minute },
    confirmPerIp: { limit: 60, windowMs: 15 * minute },
    refreshPerIp: { limit: 600, windowMs: minute },
    refreshFamily: { limit: 60, windowMs: minute },
    oauthPerIp: { limit: 30, windowMs: minute },
    mfaPerIp: { limit: 300, windowMs: 5 * minute },
    mfaPerTicket: { limit: 10, windowMs: 5 * minute },
    mfaPerUser: { limit: 10, windowMs: 5 * minute },
    passwordChangePerUser: { limit: 5, windowMs: 60 * minute },
    addressChangePerUser: { limit: 5, windowMs: 60 * minute },
    grantPerIp: { limit: 60, windowMs: minute },
    jwksPerIp: { limit: 300, windowMs: minute },
    logoutPerIp: { limit: 60, windowMs: minute },
    selfPerSession: { limit: 120, windowMs: minute },
    changePerSession: { limit: 20, windowMs: 15 * minute },
    endingPerSession: { limit: 60, windowMs: minute },
    mfaPerSession: { limit: 10, windowMs: 5 * minute },
    adminPerSession: { limit: 60, windowMs: minute },
  }
}

/** All sessions of an account together may use up as much as so many of them alone. */
const sessionsPerUser = 5

export interface RateLimiter {
  /** Counts a hit under a named limit; throws `rate_limited` when it is used up. */
  check(name: RateLimitName, subject: string): Promise<void>
  /**
   * Counts a hit of a session, and then of all sessions of its user, who have five times the limit.
   * What the session is refused for does not count for the user: a stolen token cannot use that up.
   * Without a session, as for service accounts, the user's own limit decides.
   */
  checkSession(
    name: SessionLimitName,
    who: { readonly sessionId: string | null; readonly userId: string },
  ): Promise<void>
  /** Counts a hit under a limit of the caller's; resolves to the window as this hit left it. */
  checkWith(name: string, subject: string, limit: RateLimit): Promise<CounterResult>
  /**
   * Starts a window that is full from the beginning: every hit is refused until its end, to which this
   * resolves, in epoch milliseconds.
   */
  close(name: string, subject: string, limit: RateLimit): Promise<number>
  /** The milliseconds in which hits of a named limit are counted together. */
  windowOf(name: RateLimitName): number
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

  async function forgive(key: string, hits?: number): Promise<void> {
    await fallback.forgive(key, hits)
    try {
      await counter.forgive(key, hits)
    } catch (error) {
      logger.warn('a counted attempt could not be handed back', describeError(error))
    }
  }

  return {
    async check(name, subject) {
      await checkWith(name, subject, named[name])
    },
    async checkSession(name, { sessionId, userId }) {
      const { limit, windowMs } = named[name]
      await checkWith(name, sessionId ?? userId, { limit, windowMs })
      if (sessionId === null) return
      await checkWith(`${name} of the user`, userId, { limit: limit * sessionsPerUser, windowMs })
    },
    checkWith,
    windowOf: (name) => named[name].windowMs,
    async close(name, subject, limit) {
      const key = keyOf(name, subject)
      await forgive(key)
      let last = await hit(key, limit)
      while (last.allowed && last.count < limit.limit) last = await hit(key, limit)
      return last.resetsAt
    },
    forgive: (name, subject, hits) => forgive(keyOf(name, subject), hits),
  }
}
