import type { Logger } from './host.js'
import type { Inspection } from './inspection.js'
import type { Store } from './store.js'

/** The four ports that a database provides. Every shipped store adapter returns all four. */
export interface Backend {
  readonly store: Store
  readonly denylist: Denylist
  readonly lease: Lease
  readonly counter: Counter
  /**
   * Takes the host's logger, for what an operator should know of the database and no call can tell.
   * `createAuth` calls it once, before any other call.
   */
  useLogger?(logger: Logger): void
}

/** A promise of what may be known already: then it is in `atOnce` as well, and need not be waited for. */
export interface Answer<T> extends Promise<T> {
  readonly atOnce?: { readonly value: T }
}

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

/** The stored state of a lease. */
export interface LeaseRecord {
  /** The holder's random token; null after a release. */
  readonly owner: string | null
  /** A fencing token: every change adds one, also when the holder changes. */
  readonly renewal: number
}

/**
 * A named record that one replica may change at a time. The port knows no time. A contender takes
 * over only after it has seen the same `renewal` for a whole lease time by its own clock, so the
 * clocks of two machines are never compared.
 */
export interface Lease {
  /** The record, or null when the lease was never held. */
  read(name: string): Promise<LeaseRecord | null>
  /**
   * Replaces `seen` by `next`; creates the record when `seen` is null. Resolves with false, and
   * changes nothing, unless the stored record equals `seen`. If parallel calls have the same `seen`,
   * exactly one gets true.
   */
  replace(name: string, seen: LeaseRecord | null, next: LeaseRecord): Promise<boolean>
  /** As `Store.inspect`, of the database that this port is in. */
  inspect?(): Promise<readonly Inspection[]>
}

/** The state of a window after a hit. */
export interface CounterResult {
  /** False when the window already held `limit` hits; this hit is then not counted. */
  readonly allowed: boolean
  /** Hits counted in the current window, including this one if it was allowed. */
  readonly count: number
  /** Epoch milliseconds at which the window ends and counting restarts. */
  readonly resetsAt: number
}

/**
 * Fixed-window counters, for rate limits and lockouts. A window starts with its first hit.
 * Counting and checking are one atomic step: parallel hits never exceed `limit`. Refused hits
 * neither count nor extend the window. Every call rejects when the backend fails.
 */
export interface Counter {
  /** Counts a hit. `now` is the caller's time in epoch milliseconds; the backend's clock is not used. */
  hit(key: string, windowMs: number, limit: number, now: number): Promise<CounterResult>
  /**
   * Counts `hits` hits, an integer of 1 or more, in one atomic step. Effect and answer are those of
   * `hits` calls of `hit` with nothing between them, and the answer is the last one's. So as many are
   * counted as the window has room for, and `allowed` is false unless all had room.
   *
   * Optional. With it, the limits of frequent requests are counted in the process first and reported
   * together. Without it, each of their hits is a call of `hit`.
   */
  add?(
    key: string,
    windowMs: number,
    limit: number,
    now: number,
    hits: number,
  ): Promise<CounterResult>
  /** Subtracts `hits` from the current window, never below zero; without `hits`, forgets the key. */
  forgive(key: string, hits?: number): Promise<void>
  /** Removes at most `limit` windows that ended at or before `before`. Resolves with their number. */
  sweep(before: number, limit: number): Promise<number>
  /** As `Store.inspect`, of the database that this port is in. */
  inspect?(): Promise<readonly Inspection[]>
}
