import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailService, Suspicion } from './mail-service.js'

/** Tells owners of guesses at their account, made or survived by one who shows the right password. */
export interface SuspicionNotices {
  /**
   * Beside the request, unless `notifySecurityChanges` is off. One mail of each kind a day: guesses cost
   * little, and must fill no mailbox.
   */
  tell(userId: string, reason: Suspicion, source: RequestSource): void
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'background'> {
  readonly limits: RateLimiter
  readonly mail: Pick<MailService, 'loginSuspicious'>
}

const oncePerDay = { limit: 1, windowMs: 24 * 60 * 60 * 1000 }

export function createSuspicionNotices(deps: Deps): SuspicionNotices {
  const { limits, mail } = deps

  async function isFirstToday(userId: string, reason: Suspicion): Promise<boolean> {
    try {
      await limits.checkWith('suspicionMails', `${reason} ${userId}`, oncePerDay)
      return true
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false
      throw error
    }
  }

  return {
    tell(userId, reason, source) {
      const at = deps.clock.now()
      deps.background.run('telling the owner of guesses', async () => {
        if (!(await deps.settings()).notifySecurityChanges) return
        if (!(await isFirstToday(userId, reason))) return
        const user = await deps.collections.users.get(userId)
        if (user !== null) mail.loginSuspicious(user, { at, reason, ...source })
      })
    },
  }
}
