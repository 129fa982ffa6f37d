import { isUuid } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SessionEntry, SessionList } from './session-list.js'
import type { Sessions } from './sessions.js'

/** Lists and ends the sessions of the signed-in user. */
export interface OwnSessions {
  /** The newest first: a hundred of the last 90 days, and up to two hundred others that go on. */
  list(who: SignedIn): Promise<readonly ListedSession[]>
  /** May be repeated. Throws `session_not_found`, also for another user's session. */
  end(who: SignedIn, sessionId: string, source: RequestSource): Promise<void>
}

export interface ListedSession extends SessionEntry {
  readonly current: boolean
}

export function createOwnSessions(
  deps: Pick<SurfaceContext, 'collections'>,
  ending: Sessions,
  sessionList: SessionList,
): OwnSessions {
  const { sessions, families } = deps.collections

  return {
    async list({ user, sessionId }) {
      const entries = await sessionList.of(user)
      return entries.map((one) => ({ ...one, current: one.id === sessionId }))
    },

    async end({ user }, sessionId, source) {
      const [family, document] = isUuid(sessionId)
        ? await Promise.all([families.get(sessionId), sessions.get(sessionId)])
        : [null, null]
      // One that outlives 90 days has a row alone.
      const isOwn =
        family?.userId === user.id || (document?.userId === user.id && sessionList.isKept(document))
      if (!isOwn) throw new AuthError('session_not_found')
      if (family === null) {
        // The row expired and was swept; an access token minted before may live on.
        if (document?.active === true)
          await ending.end(document, 'logout', source, { refreshRowMissing: true })
      } else if (family.revokedAt === null) {
        await ending.end(family, 'logout', source)
      } else {
        await ending.closeDocument(sessionId, family.revokedReason ?? 'admin')
      }
    },
  }
}
