import { raiseSessionEpoch } from './raise-session-epoch.js'
import type { Sessions } from './sessions.js'
import type { SurfaceDeps } from './surface-deps.js'

/** Ending sessions from the host's own code: nobody's permission is asked. */
export interface SessionAdministration {
  /**
   * Ends one session at once, everywhere: its access tokens are `session_revoked` from the moment
   * this resolves. True for the call that ended it, false when there is none or it was ended
   * before. Repeat it after a rejection: what was left undone is then done.
   */
  terminateSession(sessionId: string): Promise<boolean>
  /** Ends every session of a user, also those being opened meanwhile. Repeatable likewise. */
  terminateSessionsOf(userId: string): Promise<void>
}

const unattended = { ip: null, userAgent: null }

export function createSessionAdministration(
  deps: Pick<SurfaceDeps, 'collections'>,
  sessions: Sessions,
): SessionAdministration {
  const { users, families } = deps.collections
  return {
    async terminateSession(sessionId) {
      const family = await families.get(sessionId)
      if (family === null) return false
      if (family.revokedAt === null) return sessions.end(family, 'admin', unattended)
      await sessions.closeDocument(sessionId, family.revokedReason ?? 'admin')
      return false
    },
    async terminateSessionsOf(userId) {
      await raiseSessionEpoch(users, userId)
      await sessions.endAll(userId, 'admin', null, unattended)
    },
  }
}
