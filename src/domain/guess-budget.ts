import type { SurfaceDeps } from './surface-deps.js'

/**
 * How many wrong passwords one address may meet (S-54, S-55), whether or not it has an account. A
 * guess is counted before it is checked, so parallel guesses cannot exceed the budget.
 */
export interface GuessBudget {
  /**
   * Runs a check of a secret: `true` forgives all earlier failures, `false` counts. Throws
   * `rate_limited` when the budget is used up, whatever the secret. A check that could not be made
   * (a busy server, a failing store or hasher) hands its guess back. The guess that failed last before the
   * budget was used up calls `lockedOut`, with the time the lockout ends.
   */
  spend<T extends { readonly ok: boolean }>(
    email: string,
    check: () => Promise<T>,
    lockedOut: (result: T, until: number) => void,
  ): Promise<T>
  /** Forgets all failures: the owner proved the address by other means. */
  clear(email: string): Promise<void>
}

const name = 'passwordFailures'

export function createGuessBudget(deps: Pick<SurfaceDeps, 'limits' | 'settings'>): GuessBudget {
  const { limits } = deps
  return {
    async spend(email, check, lockedOut) {
      const { lockoutThreshold, lockoutDuration } = await deps.settings()
      if (lockoutThreshold === 0) return check()
      const budget = { limit: lockoutThreshold, windowMs: lockoutDuration }
      const { count, resetsAt } = await limits.checkWith(name, email, budget)
      try {
        const result = await check()
        if (result.ok) await limits.forgive(name, email)
        else if (count >= lockoutThreshold) lockedOut(result, resetsAt)
        return result
      } catch (error) {
        await limits.forgive(name, email, 1)
        throw error
      }
    },
    clear: (email) => limits.forgive(name, email),
  }
}
