import { capReached } from '../../engine/refresh-rules.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { requiredEpoch } from './refresh-reading.js'

/** A session of an account. Times are epoch milliseconds. */
export interface SessionEntry
  extends Pick<Session, 'id' | 'loginAt' | 'active' | 'ip' | 'userAgent'> {
  /**
   * When the record of it goes: 90 days after the login. For a session that outlives its record, the
   * end of its idle window; `ip` and `userAgent` are null then.
   */
  readonly expiresAt: number
}

/** The sessions of one account, as its refresh rows and records show them. */
export interface SessionList {
  /** The newest first: a hundred of the last 90 days, and up to two hundred others that go on. */
  of(user: User): Promise<readonly SessionEntry[]>
  /** False for a record that waits for the sweep. */
  isKept(document: Session): boolean
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'settings'>

const mostListed = 100
const mostOlder = 200
const mostFamilies = 1000

export function createSessionList(deps: Deps): SessionList {
  const { clock } = deps
  const { sessions, families } = deps.collections

  /** Expired documents wait for the sweep and no longer belong to the list. */
  const isKept = ({ expiresAt }: Session) => expiresAt !== null && expiresAt > clock.now()

  /** A document does not know of an idle deadline that passed, and is the last to hear of an end. */
  function goesOn(user: User, family: RefreshFamily, absoluteTtlMs: number | null): boolean {
    if (family.revokedAt !== null) return false
    const epoch = requiredEpoch(user, family.id)
    const now = clock.now()
    const isOver = family.expiresAt <= now || capReached(family.loginAt, absoluteTtlMs, now)
    return !isOver && (epoch === null || family.sessionEpoch === epoch)
  }

  /** Live sessions that are not among the newest, by their documents or, without one, by their rows. */
  async function olderOf(
    live: readonly RefreshFamily[],
    newest: readonly Session[],
  ): Promise<readonly SessionEntry[]> {
    const known = new Set(newest.map(({ id }) => id))
    const older = live.filter(({ id }) => !known.has(id)).slice(0, mostOlder)
    return Promise.all(
      older.map(async (family) => {
        const document = await sessions.get(family.id)
        return document !== null && isKept(document) ? entryOf(document, true) : ofFamily(family)
      }),
    )
  }

  return {
    isKept,

    async of(user) {
      const userId = user.id
      const newestFirst = true
      const [found, rows, { sessionAbsoluteTTL }] = await Promise.all([
        sessions.find({ userId }, { limit: mostListed, newestFirst }),
        families.find({ userId }, { limit: mostFamilies, newestFirst }),
        deps.settings(),
      ])
      const newest = found.filter(isKept)
      const live = rows.filter((family) => goesOn(user, family, sessionAbsoluteTTL))
      const isLive = new Set(live.map(({ id }) => id))
      // By their rows: documents say "active" long after an idle deadline passed, and newer ones of
      // that kind, however many, must not hide an older session that goes on.
      const older = await olderOf(live, newest)
      const listed = newest.map((one) => entryOf(one, one.active && isLive.has(one.id)))
      return [...listed, ...older].sort((a, b) => (a.id < b.id ? 1 : -1))
    },
  }
}

function entryOf(document: Session, active: boolean): SessionEntry {
  const { id, loginAt, expiresAt, ip, userAgent } = document
  return { id, loginAt, expiresAt: expiresAt ?? loginAt, active, ip, userAgent }
}

function ofFamily({ id, loginAt, expiresAt }: RefreshFamily): SessionEntry {
  return { id, loginAt, expiresAt, active: true, ip: null, userAgent: null }
}
