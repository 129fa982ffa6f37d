import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from './rate-limiter.js'

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
   * The guess that reaches the limit calls `lockedOut`, with the time at which the lockout ends.
   */
  attempt<T extends { readonly ok: boolean }>(
    subject: string,
    check: (failedBefore: number) => Promise<T>,
    lockedOut: (result: T, until: number) => void,
  ): Promise<T>
  /** Forgets all failures: the owner was proved by other means. */
  clear(subject: string): Promise<void>
}

/** Each kind of secret has its own counter, so guesses at one kind never lock another. */
export type FailureCounter =
  | 'passwordFailures'
  | 'passwordFailuresOfSession'
  | 'passwordFailuresOfLink'
  | (typeof poolsOfUsers)[number]

const poolsOfUsers = ['totpFailures', 'backupCodeFailures', 'passkeyFailures'] as const

/** Forgets every guess that is counted against a user. Never throws: what stays runs out. */
export async function clearFailures(
  limits: RateLimiter,
  { id, email }: Pick<User, 'id' | 'email'>,
): Promise<void> {
  await Promise.all([
    limits.forgive('passwordFailures', email),
    ...poolsOfUsers.map((pool) => limits.forgive(pool, id)),
  ])
}

interface Deps extends Pick<SurfaceContext, 'settings'> {
  readonly limits: RateLimiter
}

export function createLockout(deps: Deps, name: FailureCounter): Lockout {
  const { limits } = deps
  return {
    async attempt(subject, check, lockedOut) {
      const { lockoutThreshold, lockoutDuration } = await deps.settings()
      if (lockoutThreshold === 0) return check(0)
      const limit = { limit: lockoutThreshold, windowMs: lockoutDuration }
      const { count, resetsAt } = await limits.checkWith(name, subject, limit)
      try {
        const result = await check(count - 1)
        if (result.ok) await limits.forgive(name, subject)
        else if (count >= lockoutThreshold) lockedOut(result, resetsAt)
        return result
      } catch (error) {
        await limits.forgive(name, subject, 1)
        throw error
      }
    },
    clear: (subject) => limits.forgive(name, subject),
  }
}
