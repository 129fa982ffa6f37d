export interface CounterResult {
  /** False when `limit` had been reached before this hit; such a hit is not counted. */
  readonly allowed: boolean
  /** Hits counted in the running window, this one included when allowed. */
  readonly count: number
  /** Epoch milliseconds at which the window ends and counting starts anew. */
  readonly resetsAt: number
}

/**
 * Fixed-window counting, for rate limits and lockouts. A window starts with its first hit.
 * Counting and checking are one atomic step: parallel hits never exceed `limit`. Refused hits
 * neither count nor extend the window.
 */
export interface Counter {
  /** `now` is the caller's clock in epoch milliseconds; the backend's clock decides nothing. */
  hit(key: string, windowMs: number, limit: number, now: number): Promise<CounterResult>
  /** Hands back `hits` of the running window (never below zero); without `hits`, forgets the key. */
  forgive(key: string, hits?: number): Promise<void>
  /** Removes at most `limit` windows that ended at or before `before`; how many. */
  sweep(before: number, limit: number): Promise<number>
}
