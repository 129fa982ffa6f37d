/** The only source of time: no decision reads another clock, nor that of a database. */
export interface Clock {
  /** Epoch milliseconds, a whole number. */
  now(): number
  /**
   * Calls `run` once, `ms` milliseconds from now, unless the returned function was called before.
   * A pending timer never keeps the process alive.
   */
  after(ms: number, run: () => void): () => void
}
