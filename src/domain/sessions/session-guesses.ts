import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
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

/** Filled for a session whose guesses are used up: an ending that fails is made good by the next guess. */
const usedUp = 'sessionsUsedUp'
const mark = { limit: 20, windowMs: 24 * 60 * 60 * 1000 }

export function createSessionGuesses(
  deps: Deps,
  counter: 'passwordFailuresOfSession' | 'factorFailuresOfSession',
): SessionGuesses {
  const { limits } = deps
  const lockout = createLockout(deps, counter)

  /** Not of a session whose right secret was sent twice, so that the second one is refused beside the first. */
  async function isMarked(sessionId: string): Promise<boolean> {
    try {
      await limits.checkWith(usedUp, sessionId, mark)
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return true
      throw error
    }
    await limits.forgive(usedUp, sessionId, 1)
    return false
  }

  return {
    async attempt({ userId, sessionId }, check, source) {
      let isOver = false
      try {
        return await lockout.attempt(sessionId, check, () => {
          isOver = true
        })
      } catch (error) {
        const isLimited = error instanceof AuthError && error.code === 'rate_limited'
        isOver = isLimited && (await isMarked(sessionId))
        throw error
      } finally {
        if (isOver) {
          await limits.close(usedUp, sessionId, mark)
          await deps.sessions.end({ id: sessionId, userId }, 'guesses', source)
        }
      }
    },
  }
}
