import { isUuid } from '../../crypto/secrets.js'
import { isHuman } from '../../model/user.js'
import type { Act } from '../context/actor.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorChanges } from '../factors/factor-changes.js'
import { raiseDeviceEpoch } from '../factors/raise-device-epoch.js'
import { clearFactorFailures } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { raiseSessionEpoch } from '../sessions/raise-session-epoch.js'
import type { Sessions } from '../sessions/sessions.js'

/** Removes all second factors of a user who lost them. */
export interface MfaReset {
  /**
   * Ends the person's sessions and half-finished logins, forgets trusted devices, and removes every
   * factor, in this order; then it ends what was opened by a factor meanwhile. After an interruption, the
   * next attempt completes it. False for an unknown id and for a service
   * account.
   */
  reset(userId: string, act: Act): Promise<boolean>
}

interface Deps extends Pick<SurfaceContext, 'collections'> {
  readonly limits: RateLimiter
}

export function createMfaReset(
  { collections, limits }: Deps,
  sessions: Sessions,
  changes: FactorChanges,
): MfaReset {
  const { users, totpFactors, backupCodes, passkeys } = collections

  /** One that is stored meanwhile sees that the epoch has moved, and is taken back. */
  async function takePasskeys(userId: string): Promise<void> {
    const keys = await passkeysOfUser(collections, userId)
    await Promise.all(keys.map(({ id }) => passkeys.take(id, { userId })))
  }

  return {
    async reset(userId, { actorId, source }) {
      const user = isUuid(userId) ? await users.get(userId) : null
      if (user === null || !isHuman(user)) return false
      const endSessions = async () => {
        const raised = await raiseSessionEpoch(users, userId)
        if (raised !== null) await sessions.endAll(userId, 'admin', source, { actorId })
        return raised !== null
      }
      if (!(await endSessions())) return false
      // A session that was let in until now may be adding a factor: it sees this, or we see the factor.
      if ((await raiseDeviceEpoch(users, userId)) === null) return false
      await Promise.all([totpFactors.take(userId), backupCodes.take(userId), takePasskeys(userId)])
      // Once more: a login by a factor may have come in just before its removal.
      if (!(await endSessions())) return false
      await clearFactorFailures(limits, userId)
      const change = { change: 'factorsReset', source, actorId } as const
      // What a factor granted between the epoch and its removal.
      await changes.retire(user, change)
      changes.made(user, change)
      return true
    },
  }
}
