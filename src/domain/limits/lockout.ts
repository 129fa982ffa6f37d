import { ahead } from '../../concurrency/promises.js'
import { lockoutLength } from '../../engine/limits.js'
import type { User } from '../../model/user.js'
import type { CounterResult } from '../../ports/backend.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from './rate-limiter.js'
import type { RateLimit } from './rate-limits.js'

/** A lockout that began just now. */
export interface LockoutEnd {
  /** Epoch milliseconds at which it ends. */
  readonly until: number
  /** Whether it is the first one within a month; later ones are longer. Always true but for codes. */
  readonly isFirst: boolean
}

/**
 * How many wrong guesses at one kind of secret one subject may meet: passwords of an
 * address, whether or not it has an account, or codes of a user. A guess is counted before it is
 * checked, so parallel guesses cannot exceed the limit.
 */
export interface Lockout {
  /**
   * Runs a check of a secret, given the number of failures counted before it. A result with `ok`
   * forgives all of them; any other result counts. Throws `rate_limited` when the limit is reached, even for the right
   * secret. A check that rejects (a busy server, a failing store or hasher) hands its guess back. The guess that reaches
   * the limit calls `lockedOut`. With `forgiving`, this resolves before the failures are forgiven and passes the pending
   * work on. The caller must wait for it before the reply: a process that is frozen between requests would never finish
   * it, and the owner's own logins would lock them out.
   */
  attempt<T extends { readonly ok: boolean }>(
    subject: string,
    check: (failedBefore: number) => Promise<T>,
    lockedOut: (result: T, end: LockoutEnd) => void,
    forgiving?: (forgiven: Promise<void>) => void,
  ): Promise<T>
  /** Forgets all failures: the owner was proved by other means. */
  clear(subject: string): Promise<void>
}

/**
 * Each kind of secret has its own counter, so guesses at one kind never lock another. Factors at a login and factors within a
 * session have counters of their own too: otherwise a thief with a session could keep its owner from signing in.
 */
export type FailureCounter =
  | (typeof passwordCounters)[number]
  | (typeof factorCounters)[number]
  | 'factorFailuresOfSession'

const passwordCounters = [
  'passwordFailures',
  'passwordFailuresOfSession',
  'passwordFailuresOfLink',
] as const

/** Each counts the failures of a user. */
const factorCounters = [
  'totpFailures',
  'backupCodeFailures',
  'passkeyFailures',
  'totpFailuresInSessions',
  'backupCodeFailuresInSessions',
] as const

/**
 * Where the lockouts of a user's codes within a month are counted: each is longer than the one before. A right code resets
 * neither this count nor that of a day, because it is the owner's and the guesser goes on. Passkeys have none: a signature
 * cannot be guessed, and a longer lockout would only shut the owner out.
 */
const lockoutsOf: { readonly [Name in FailureCounter]?: string } = {
  totpFailures: 'factorLockouts',
  backupCodeFailures: 'factorLockouts',
  totpFailuresInSessions: 'factorLockoutsInSessions',
  backupCodeFailuresInSessions: 'factorLockoutsInSessions',
}
const dayMs = 24 * 60 * 60 * 1000
const monthMs = 30 * dayMs
/** More than fit into a month, at the shortest `lockoutDuration`. */
const mostPerMonth = 100_000
/**
 * This many times the threshold of wrong codes in a day begin a lockout of a day: it stops a guesser who always pauses
 * before the ordinary lockout.
 */
const thresholdsPerDay = 5
const ofDay = (name: string) => `${name}OfDay`

/**
 * Codes are short, and a caller who guesses at them knows the password or has a session: they are never without a
 * lockout.
 */
const factorThreshold = 10

/** Forgets every guess at the factors of a user. Never throws: what stays runs out. */
export async function clearFactorFailures(limits: RateLimiter, userId: string): Promise<void> {
  const lockouts = new Set(Object.values(lockoutsOf))
  const days = Object.keys(lockoutsOf).map(ofDay)
  const counters = [...factorCounters, ...lockouts, ...days]
  await Promise.all(counters.map((counter) => limits.forgive(counter, userId)))
}

/** Forgets every guess that is counted against a user. Never throws: what stays runs out. */
export async function clearFailures(
  limits: RateLimiter,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<void> {
  await Promise.all([limits.forgive('passwordFailures', email), clearFactorFailures(limits, id)])
}

interface Deps extends Pick<SurfaceContext, 'settings'> {
  readonly limits: RateLimiter
}

export function createLockout({ settings, limits }: Deps, name: FailureCounter): Lockout {
  const isOfFactor = passwordCounters.every((counter) => counter !== name)
  const lockouts = lockoutsOf[name]

  async function counted(counter: string, subject: string, windowMs: number): Promise<number> {
    return (await limits.checkWith(counter, subject, { limit: mostPerMonth, windowMs })).count
  }

  /** The lockout that a wrong guess begins, as it stands in its window; null where it begins none. */
  async function lockoutAfter(
    subject: string,
    limit: RateLimit,
    { count, resetsAt }: Pick<CounterResult, 'count' | 'resetsAt'>,
  ): Promise<LockoutEnd | null> {
    const isFull = count >= limit.limit
    if (lockouts === undefined) return isFull ? { until: resetsAt, isFirst: true } : null
    const today = await counted(ofDay(name), subject, dayMs)
    const isDayFull = today % (thresholdsPerDay * limit.limit) === 0
    if (!isFull && !isDayFull) return null
    const number = await counted(lockouts, subject, monthMs)
    const isFirst = number === 1
    const grown = isFull ? lockoutLength(limit.windowMs, number) : 0
    const windowMs = Math.max(grown, isDayFull ? dayMs : 0)
    if (isFull && windowMs <= limit.windowMs) return { until: resetsAt, isFirst }
    return { until: await limits.close(name, subject, { ...limit, windowMs }), isFirst }
  }

  return {
    async attempt(subject, check, lockedOut, forgiving) {
      const { lockoutThreshold, lockoutDuration } = await settings()
      const limit = lockoutThreshold || (isOfFactor ? factorThreshold : 0)
      if (limit === 0) return check(0)
      const window = { limit, windowMs: lockoutDuration }
      const { count, resetsAt } = await limits.checkWith(name, subject, window)
      const result = await check(count - 1).catch(async (error: unknown) => {
        await limits.forgive(name, subject, 1)
        throw error
      })
      if (result.ok) {
        const forgiven = ahead(limits.forgive(name, subject))
        if (forgiving === undefined) await forgiven
        else forgiving(forgiven)
      } else {
        const end = await lockoutAfter(subject, window, { count, resetsAt })
        if (end !== null) lockedOut(result, end)
      }
      return result
    },
    clear: (subject) => limits.forgive(name, subject),
  }
}
