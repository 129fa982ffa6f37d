import type { Inspection } from './inspection.js'

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
