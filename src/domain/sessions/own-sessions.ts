import { isUuid } from '../../crypto/uuid.js'
import { capReached } from '../../engine/session-age.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import type { Session } from '../../model/session.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { requiredEpoch } from './refresh-inspection.js'
import type { Sessions } from './sessions.js'

/** Lists and ends the sessions of the signed-in user. */
export interface OwnSessions {
  /** The newest first: a hundred of the last 90 days, and whatever else goes on still. */
  list(who: SignedIn): Promise<readonly ListedSession[]>
  /** May be repeated. Throws `session_not_found`, also for another user's session. */
  end(who: SignedIn, sessionId: string, source: RequestSource): Promise<void>
}

export interface ListedSession
  extends Pick<Session, 'id' | 'loginAt' | 'active' | 'ip' | 'userAgent'> {
  /** When the record of it goes, 90 days after the login. */
  readonly expiresAt: number
  readonly current: boolean
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'settings'>

const mostListed = 100
const mostOlder = 200
const mostFamilies = 1000

export function createOwnSessions(deps: Deps, ending: Sessions): OwnSessions {
  const { clock } = deps
  const { sessions, families } = deps.collections

  /** Expired documents wait for the sweep and no longer belong to the list. */
  const isKept = ({ expiresAt }: Session) => expiresAt !== null && expiresAt > clock.now()

  /** A document does not know of an idle deadline that passed, and is the last to hear of an end. */
  function goesOn(
    { user }: SignedIn,
    family: RefreshFamily,
    absoluteTtlMs: number | null,
  ): boolean {
    if (family.revokedAt !== null) return false
    const epoch = requiredEpoch(user, family.id)
    const now = clock.now()
    const isOver = family.expiresAt <= now || capReached(family.loginAt, absoluteTtlMs, now)
    return !isOver && (epoch === null || family.sessionEpoch === epoch)
  }

  /** The documents of sessions that are not among the newest. */
  async function olderOf(
    live: readonly RefreshFamily[],
    newest: readonly Session[],
  ): Promise<readonly Session[]> {
    const known = new Set(newest.map(({ id }) => id))
    const ids = live.map(({ id }) => id).filter((id) => !known.has(id))
    const found = await Promise.all(ids.slice(0, mostOlder).map((id) => sessions.get(id)))
    return found.filter((one) => one !== null)
  }

  return {
    async list(who) {
      const userId = who.user.id
      const newestFirst = true
      const [newest, rows, { sessionAbsoluteTTL }] = await Promise.all([
        sessions.find({ userId }, { limit: mostListed, newestFirst }),
        families.find({ userId }, { limit: mostFamilies, newestFirst }),
        deps.settings(),
      ])
      const live = rows.filter((family) => goesOn(who, family, sessionAbsoluteTTL))
      const isLive = new Set(live.map(({ id }) => id))
      // By their rows: documents say "active" long after an idle deadline passed, and newer ones of
      // that kind, however many, must not hide an older session that goes on.
      const older = await olderOf(live, newest)
      const shown = new Map([...newest, ...older].filter(isKept).map((one) => [one.id, one]))
      return [...shown.values()]
        .sort((a, b) => (a.id < b.id ? 1 : -1))
        .map(({ id, loginAt, expiresAt, active, ip, userAgent }) => ({
          id,
          loginAt,
          expiresAt: expiresAt ?? loginAt,
          active: active && isLive.has(id),
          ip,
          userAgent,
          current: id === who.sessionId,
        }))
    },

    async end({ user }, sessionId, source) {
      const [family, document] = isUuid(sessionId)
        ? await Promise.all([families.get(sessionId), sessions.get(sessionId)])
        : [null, null]
      const isOwn = document?.userId === user.id && isKept(document)
      if (!isOwn) throw new AuthError('session_not_found')
      if (family === null) {
        // The row expired and was swept; an access token minted before may live on.
        if (document.active)
          await ending.end(document, 'logout', source, { refreshRowMissing: true })
      } else if (family.revokedAt === null) {
        await ending.end(family, 'logout', source)
      } else {
        await ending.closeDocument(sessionId, family.revokedReason ?? 'admin')
      }
    },
  }
}
