import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createLockout } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { SessionTermination } from './session-termination.js'

/** The session of a user in which a secret is asked for. */
export interface GuessingSession {
  readonly userId: string
  readonly sessionId: string
}

/**
 * Wrong guesses at one kind of secret within each session. They are counted for the session alone, so a
 * stolen one keeps its owner out of nothing.
 */
export interface SessionGuesses {
  /**
   * Runs a check of a secret as `Lockout.attempt` does. The wrong guess that reaches the limit ends the
   * session, and the caller still gets the result of it. Throws `rate_limited` for later guesses.
   */
  attempt<T extends { readonly ok: boolean }>(
    session: GuessingSession,
    check: (failedBefore: number) => Promise<T>,
    source: RequestSource,
  ): Promise<T>
}

interface Deps extends Pick<SurfaceContext, 'settings'> {
  readonly limits: RateLimiter
  readonly sessions: Pick<SessionTermination, 'end'>
}

export function createSessionGuesses(
  deps: Deps,
  counter: 'passwordFailuresOfSession' | 'factorFailuresOfSession',
): SessionGuesses {
  const lockout = createLockout(deps, counter)
  return {
    async attempt({ userId, sessionId }, check, source) {
      let isChecked = false
      let isUsedUp = false
      try {
        const checked = (failedBefore: number) => {
          isChecked = true
          return check(failedBefore)
        }
        return await lockout.attempt(sessionId, checked, () => {
          isUsedUp = true
        })
      } catch (error) {
        // An earlier request may have used it up and died before it ended the session.
        const isLimited = error instanceof AuthError && error.code === 'rate_limited'
        isUsedUp = isLimited && !isChecked
        throw error
      } finally {
        if (isUsedUp) await deps.sessions.end({ id: sessionId, userId }, 'guesses', source)
      }
    },
  }
}
