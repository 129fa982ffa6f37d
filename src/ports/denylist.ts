import type { Answer } from './answer.js'
import type { Inspection } from './inspection.js'

/** A session or an access token that is refused. */
export interface DenylistEntry {
  /** `<surface>:session:<session id>` or `<surface>:token:<jti>`. */
  readonly id: string
  /** Decides the code of the 401: `session_revoked`, or `session_max_age_reached` for `max_age`. */
  readonly reason: 'revoked' | 'max_age'
  /** Epoch milliseconds. The caller compares it with its own clock; the backend's is not used. */
  readonly expiresAt: number
}

/** The sessions and access tokens that are refused from now on. Read on every protected request. */
export interface Denylist {
  /**
   * Stores the entries. For an id that is already listed, the first reason and the later expiry win.
   * Resolves only when a `find` that starts afterwards, on any replica, returns the entry.
   */
  put(entries: readonly DenylistEntry[]): Promise<void>
  /**
   * The entries stored for these ids, each once, in any order. Expired entries may be among them; the
   * caller checks. Rejects when the backend cannot answer, and never guesses "not listed". What keeps the
   * entries in this process may answer `atOnce`: then a guarded request waits for nothing.
   */
  find(ids: readonly string[]): Answer<readonly DenylistEntry[]>
  /**
   * True where one `find` of many ids costs little more than one of two. Calls of the same moment are
   * then sent as one, of at most 64 ids. Default: each call is sent by itself.
   */
  readonly findsInGroups?: boolean
  /** Removes at most `limit` entries with `expiresAt <= before`. Resolves with their number. */
  sweep(before: number, limit: number): Promise<number>
  /** As `Store.inspect`, of the database that this port is in. */
  inspect?(): Promise<readonly Inspection[]>
}
