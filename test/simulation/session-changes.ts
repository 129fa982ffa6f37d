import type { RefreshFamily } from '../../src/model/sessions.js'
import type { User } from '../../src/model/user.js'
import type { DenylistEntry } from '../../src/ports/backend.js'
import type { Doc } from '../../src/ports/store.js'
import type { SessionChange } from './history.js'

const families = 'client_refresh_tokens'

/** What is written, without its type: null for what is not there. */
type Fields<T> = { readonly [Key in keyof T]?: T[Key] }

/** A family of the client surface that was written for the first time; null for another document. */
export function openedSession(collection: string, doc: Doc): SessionChange | null {
  if (collection !== families) return null
  const { userId = '', sessionEpoch = 0, rotatedAt = 0, expiresAt = 0 } = fieldsOf(doc)
  return { kind: 'open', session: doc.id, userId, epoch: sessionEpoch, rotatedAt, expiresAt }
}

export function listedSessions(entries: readonly DenylistEntry[]): SessionChange | null {
  const prefix = 'client:session:'
  const sessions = entries
    .filter(({ id }) => id.startsWith(prefix))
    .map(({ id }) => id.slice(prefix.length))
  return sessions.length === 0 ? null : { kind: 'deny', sessions }
}

interface Updated {
  readonly collection: string
  readonly id: string
  readonly set: object
  readonly after: Doc | null
}

/** What an update did to a session, or to the epoch of a user's sessions; null for another. */
export function updatedSession({ collection, id, set, after }: Updated): SessionChange | null {
  const hit = after !== null
  if (collection === families) return ofFamily(id, set, hit)
  if (collection === 'client_sessions') {
    return Reflect.get(set, 'active') === false ? { kind: 'close', session: id, hit } : null
  }
  if (collection !== 'client_users' || after === null) return null
  const touched = ['sessionEpoch', 'keptSessionId', 'enabled']
  if (!touched.some((key) => key in set)) return null
  const { sessionEpoch = 0, keptSessionId = null, enabled = true }: Fields<User> = after
  return { kind: 'user', userId: id, epoch: sessionEpoch, kept: keptSessionId, enabled }
}

function ofFamily(session: string, set: object, hit: boolean): SessionChange | null {
  const { generation, revokedAt, noReissueUpTo, rotatedAt = 0, expiresAt = 0 } = fieldsOf(set)
  if (generation !== undefined) return { kind: 'rotate', session, hit, rotatedAt, expiresAt }
  if (noReissueUpTo !== undefined) return { kind: 'bar', session, hit }
  return revokedAt === undefined ? null : { kind: 'revoke', session, hit }
}

const fieldsOf = (set: object): Fields<RefreshFamily> => set
