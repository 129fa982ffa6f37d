export interface DenylistEntry {
  /** `<surface>:session:<session id>` or `<surface>:token:<jti>`. */
  readonly id: string
  /** Why: `max_age` answers `session_max_age_reached`, `revoked` answers `session_revoked`. */
  readonly reason: 'revoked' | 'max_age'
  /** Epoch milliseconds, judged by the caller's clock, never by the backend's. */
  readonly expiresAt: number
}

/**
 * Ids whose access tokens are refused at once. Asked on every protected request.
 */
export interface Denylist {
  /**
   * Stores the entries. For an id already listed the first reason stays and the later expiry wins.
   * Resolves only when a `find` that starts afterwards, on any replica, returns the entry.
   */
  put(entries: readonly DenylistEntry[]): Promise<void>
  /**
   * The entries stored for these ids, each once, in any order, expired ones included or not (the caller
   * judges). Rejects when the backend cannot answer: "not listed" is never a guess.
   */
  find(ids: readonly string[]): Promise<readonly DenylistEntry[]>
  /** Removes at most `limit` entries whose `expiresAt` is at or before `before`; how many. */
  sweep(before: number, limit: number): Promise<number>
}
