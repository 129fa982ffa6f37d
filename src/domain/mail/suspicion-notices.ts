import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailService, Suspicion } from './mail-service.js'

interface Deps extends Pick<SurfaceContext, 'collections' | 'settings'> {
  readonly limits: RateLimiter
  readonly mail: Pick<MailService, 'loginSuspicious'>
}

interface Guesses extends RequestSource {
  readonly at: number
  readonly reason: Suspicion | 'knownPassword'
}

const oncePerDay = { limit: 1, windowMs: 24 * 60 * 60 * 1000 }

/** What tells owners of guesses; it is loaded when the first are made. */
export function createSuspicionNotices({ collections, settings, limits, mail }: Deps) {
  async function isFirstToday(userId: string, reason: Guesses['reason']): Promise<boolean> {
    try {
      await limits.checkWith('suspicionMails', `${reason} ${userId}`, oncePerDay)
      return true
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false
      throw error
    }
  }

  return {
    async send(userId: string, guesses: Guesses): Promise<void> {
      if (!(await settings()).notifySecurityChanges) return
      // Read first: a day's mail is not used up by a store that fails.
      const user = await collections.users.get(userId)
      if (user === null || !(await isFirstToday(userId, guesses.reason))) return
      const reason = guesses.reason === 'knownPassword' ? 'password' : guesses.reason
      mail.loginSuspicious(user, { ...guesses, reason })
    },
  }
}
