import type { RequestSource } from '../../ports/surface.js'
import { type Actor, actBy } from '../context/actor.js'
import { storedText } from '../context/stored-text.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { raiseSessionEpoch } from './raise-session-epoch.js'
import type { SessionEntry, SessionList } from './session-list.js'
import type { Sessions } from './sessions.js'

/**
 * Lists and ends sessions from the host's code: no permission is checked. `by` names the actor for events and
 * audit records. Throws `AuthError` `invalid_request` for an id that is no text, and `service_unavailable` when
 * the store fails.
 */
export interface SessionAdministration {
  /**
   * Ends one session on every replica: from the moment this resolves, its access tokens get 401
   * `session_revoked`. True if this call ended it, false if it did not exist or had ended before.
   * Repeat it after a rejection to complete it.
   */
  terminateSession(sessionId: string, by?: Actor): Promise<boolean>
  /**
   * Ends every session of a user, including sessions that are being opened meanwhile. Repeat it after
   * a rejection to complete it.
   */
  terminateSessionsOf(userId: string, by?: Actor): Promise<void>
  /**
   * The sessions of a user, the newest first: a hundred of the last 90 days, ended ones among them, and
   * up to two hundred others that go on. Empty for an unknown user.
   */
  listSessions(userId: string): Promise<readonly SessionEntry[]>
}

export function createSessionAdministration(
  deps: Pick<SurfaceContext, 'collections' | 'emit'>,
  sessions: Sessions,
  sessionList: SessionList,
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
      const id = storedText('sessionId', sessionId)
      const family = await families.get(id)
      if (family === null) return endSwept(id, source, actorId)
      if (family.revokedAt === null) return sessions.end(family, 'admin', source, { actorId })
      await sessions.closeDocument(id, family.revokedReason ?? 'admin')
      return false
    },
    async terminateSessionsOf(userId, by = {}) {
      const { actorId, source } = actBy(by)
      const id = storedText('userId', userId)
      if ((await raiseSessionEpoch(users, id)) !== null) {
        deps.emit('session.allTerminated', source, { actorId, targetId: id })
      }
      await sessions.endAll(id, 'admin', source, { actorId })
    },

    async listSessions(userId) {
      const user = await users.get(storedText('userId', userId))
      return user === null ? [] : sessionList.of(user)
    },
  }
}
