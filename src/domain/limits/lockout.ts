import { ahead } from '../../concurrency/ahead.js'
import { lockoutLength } from '../../engine/lockout-length.js'
import type { User } from '../../model/user.js'
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
   * Runs a check of a secret, given the number of failures that are counted so far: `true` forgives
   * all of them, `false` counts. Throws `rate_limited` when the limit is reached, whatever the secret.
   * A check that could not be made (a busy server, a failing store or hasher) hands its guess back.
   * The guess that reaches the limit calls `lockedOut`. With `forgiving`, what is forgiven is being so when
   * this resolves: that caller waits for it before the reply, or the owner's own logins would lock them
   * out of a process that is frozen between requests.
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

/** Each kind of secret has its own counter, so guesses at one kind never lock another. */
export type FailureCounter = (typeof poolsOfPasswords)[number] | (typeof poolsOfFactors)[number]

const poolsOfPasswords = [
  'passwordFailures',
  'passwordFailuresOfSession',
  'passwordFailuresOfLink',
] as const

const poolsOfFactors = ['totpFailures', 'backupCodeFailures', 'passkeyFailures'] as const

/** How often the codes of an account were locked: those of an app, and backup codes. */
const factorLockouts = 'factorLockouts'
const monthMs = 30 * 24 * 60 * 60 * 1000
/** More than fit into a month, at the shortest `lockoutDuration`. */
const mostPerMonth = 100_000

/** Codes are short, and one who guesses at them knows the password: they are never without a lockout. */
const factorThreshold = 10

/** Forgets every guess at the factors of a user. Never throws: what stays runs out. */
export async function clearFactorFailures(limits: RateLimiter, userId: string): Promise<void> {
  const pools = [...poolsOfFactors, factorLockouts]
  await Promise.all(pools.map((pool) => limits.forgive(pool, userId)))
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
  const isOfFactor = poolsOfFactors.some((pool) => pool === name)
  // A signature cannot be guessed: a longer lockout would protect nothing, and shut the owner out.
  const grows = isOfFactor && name !== 'passkeyFailures'

  /**
   * Makes the lockout that began last as long as its number asks for. A right code does not set the
   * number back: it is the owner's, and the one who guesses goes on.
   */
  async function lengthen(subject: string, limit: RateLimit, until: number): Promise<LockoutEnd> {
    const perMonth = { limit: mostPerMonth, windowMs: monthMs }
    const { count } = await limits.checkWith(factorLockouts, subject, perMonth)
    const windowMs = lockoutLength(limit.windowMs, count)
    if (windowMs <= limit.windowMs) return { until, isFirst: count === 1 }
    return { until: await limits.close(name, subject, { ...limit, windowMs }), isFirst: false }
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
      } else if (count >= limit) {
        const shortest = { until: resetsAt, isFirst: true }
        lockedOut(result, grows ? await lengthen(subject, window, resetsAt) : shortest)
      }
      return result
    },
    clear: (subject) => limits.forgive(name, subject),
  }
}
