import type { RequestSource } from '../../ports/request-source.js'
import { type Actor, actBy } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { raiseSessionEpoch } from './raise-session-epoch.js'
import type { Sessions } from './sessions.js'

/**
 * Ending sessions from the host's own code: nobody's permission is asked. `by` says on whose behalf,
 * for events and audit records.
 */
export interface SessionAdministration {
  /**
   * Ends one session at once, everywhere: its access tokens are `session_revoked` from the moment
   * this resolves. True for the call that ended it, false when there is none or it was ended
   * before. Repeat it after a rejection: what was left undone is then done.
   */
  terminateSession(sessionId: string, by?: Actor): Promise<boolean>
  /** Ends every session of a user, also those being opened meanwhile. Repeatable likewise. */
  terminateSessionsOf(userId: string, by?: Actor): Promise<void>
}

export function createSessionAdministration(
  deps: Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'emit'>,
  sessions: Sessions,
): SessionAdministration {
  const { users, families } = deps.collections

  /** The row expired and was swept; an access token minted before may live on. */
  async function endSwept(
    sessionId: string,
    source: RequestSource,
    actorId: string | null,
  ): Promise<boolean> {
    const document = await deps.collections.sessions.get(sessionId)
    if (document === null || !document.active) return false
    return sessions.end(document, 'admin', source, { actorId, refreshRowMissing: true })
  }

  return {
    async terminateSession(sessionId, by = {}) {
      const { actorId, source } = actBy(by)
      const family = await families.get(sessionId)
      if (family === null) return endSwept(sessionId, source, actorId)
      if (family.revokedAt === null) return sessions.end(family, 'admin', source, { actorId })
      await sessions.closeDocument(sessionId, family.revokedReason ?? 'admin')
      return false
    },
    async terminateSessionsOf(userId, by = {}) {
      const { actorId, source } = actBy(by)
      if ((await raiseSessionEpoch(users, userId)) !== null) {
        deps.emit({
          type: 'session.allTerminated',
          surface: deps.surface,
          at: deps.clock.now(),
          ...source,
          actorId,
          targetId: userId,
        })
      }
      await sessions.endAll(userId, 'admin', null, source, actorId)
    },
  }
}
