import { sha256 } from '../../crypto/secrets.js'
import { AuthError, describeError } from '../../errors/index.js'
import type { Counter, CounterResult } from '../../ports/backend.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import { createDeferredCounts } from './deferred-counts.js'
import { fallbackCounter } from './fallback-counter.js'
import {
  defaultRateLimits,
  deferredLimits,
  type ExactName,
  type RateLimit,
  type RateLimitName,
  type RateLimits,
  type SessionLimitName,
} from './rate-limits.js'

/** All sessions of an account together may use up as much as so many of them alone. */
const sessionsPerUser = 5

/** How often `close` tries again when a hit arrives between its two steps. */
const tries = 4

export interface RateLimiter {
  /**
   * Counts a hit under a named limit; throws `rate_limited` when it is used up. Where the counter can
   * add, the first hits of `deferredLimits` are counted in this process alone: all processes together
   * let through the limit and, for each of them, a fiftieth of it, at least one hit.
   */
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
  checkWith<Name extends string>(
    name: ExactName<Name>,
    subject: string,
    limit: RateLimit,
  ): Promise<CounterResult>
  /**
   * Starts a window that is full from the beginning: every hit is refused until its end, to which this
   * resolves, in epoch milliseconds. Hits beside it may be allowed until it resolves. If two calls close a window, the
   * longer one stays.
   */
  close<Name extends string>(
    name: ExactName<Name>,
    subject: string,
    limit: RateLimit,
  ): Promise<number>
  /** The milliseconds in which hits of a named limit are counted together. */
  windowOf(name: RateLimitName): number
  /** Hands back `hits` of what `checkWith` counted, or all of it. Failures are logged only. */
  forgive<Name extends string>(name: ExactName<Name>, subject: string, hits?: number): Promise<void>
}

interface Deps {
  readonly surface: Surface
  /** The prefix of the host's collections: hosts that share a database share no counter. Default none. */
  readonly prefix?: string
  readonly counter: Counter
  readonly clock: Clock
  readonly logger: Logger
  readonly overrides: Partial<RateLimits>
  /** Whether every hit is counted by the counter as it comes. Default false. */
  readonly exact?: boolean
}

export function createRateLimiter(deps: Deps): RateLimiter {
  const { surface, prefix = '', counter, clock, logger } = deps
  const named: RateLimits = { ...defaultRateLimits(surface), ...deps.overrides }
  const fallback = fallbackCounter()
  const { add } = counter
  const deferred =
    add === undefined || deps.exact
      ? null
      : createDeferredCounts({ ...deps, add: (...hits) => add.apply(counter, hits) })

  // Hashed: bounded length, and no address is kept in the counter's keys.
  const keyOf = (name: string, subject: string): string =>
    `${prefix}${surface}:${name}:${sha256(subject)}`

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

  async function fill(key: string, limit: RateLimit): Promise<CounterResult> {
    if (add !== undefined) {
      const { limit: hits, windowMs } = limit
      const filled = add.call(counter, key, windowMs, hits, clock.now(), hits)
      const result = await filled.catch(() => null)
      if (result !== null) return result
    }
    let last = await hit(key, limit)
    while (last.allowed && last.count < limit.limit) last = await hit(key, limit)
    return last
  }

  function requireAllowed({
    allowed,
    resetsAt,
  }: Pick<CounterResult, 'allowed' | 'resetsAt'>): void {
    if (allowed) return
    const wait = Math.max(1, Math.ceil((resetsAt - clock.now()) / 1000))
    throw new AuthError('rate_limited', { retryAfter: wait })
  }

  async function checkKey(key: string, name: RateLimitName, limit: RateLimit): Promise<void> {
    const counts = isDeferred(name) ? deferred : null
    requireAllowed((await counts?.hit(key, limit)) ?? (await hit(key, limit)))
  }

  /** False where the counter failed. */
  async function forgive(key: string, hits?: number): Promise<boolean> {
    await fallback.forgive(key, hits)
    try {
      await counter.forgive(key, hits)
      return true
    } catch (error) {
      logger.warn('a counted attempt could not be handed back', describeError(error))
      return false
    }
  }

  return {
    async check(name, subject) {
      await checkKey(keyOf(name, subject), name, named[name])
    },
    async checkSession(name, { sessionId, userId }) {
      const { limit, windowMs } = named[name]
      await checkKey(keyOf(name, sessionId ?? userId), name, { limit, windowMs })
      if (sessionId === null) return
      const ofAll = { limit: limit * sessionsPerUser, windowMs }
      await checkKey(keyOf(`${name} of the user`, userId), name, ofAll)
    },
    async checkWith(name, subject, limit) {
      const result = await hit(keyOf(name, subject), limit)
      requireAllowed(result)
      return result
    },
    windowOf: (name) => named[name].windowMs,
    async close(name, subject, limit) {
      const key = keyOf(name, subject)
      for (let left = tries; ; left -= 1) {
        const end = clock.now() + limit.windowMs
        const { resetsAt } = await fill(key, limit)
        if (resetsAt >= end || left === 0) return resetsAt
        // A hit that comes right after may begin a shorter window, so the loop checks the end again. Where the counter failed, what this
        // process counts was forgiven all the same.
        if (!(await forgive(key))) return (await fill(key, limit)).resetsAt
      }
    },
    async forgive(name, subject, hits) {
      await forgive(keyOf(name, subject), hits)
    },
  }
}

function isDeferred(name: RateLimitName): boolean {
  return deferredLimits.some((one) => one === name)
}
