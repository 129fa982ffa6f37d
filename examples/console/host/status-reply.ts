/** What this process measured of itself. */
export interface StatusReply {
  /** The id of the process. It knows nothing of other processes with the same database. */
  readonly pid: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** The last hour at most, oldest first. The newest one is not over yet. */
  readonly minutes: readonly Minute[]
}

/** What happened within a minute. */
export interface Minute {
  /** Its beginning, epoch milliseconds. */
  readonly at: number
  readonly signIns: Readonly<Record<'client' | 'operator' | 'failed', number>>
  readonly refreshes: Readonly<Record<'renewed' | 'refused' | 'failed' | 'replays', number>>
  /** The most hashes that were seen to wait, looked at every ten seconds; and those refused. */
  readonly hashes: Readonly<Record<'waiting' | 'refused', number>>
  /** How many requests took how long. */
  readonly requests: Durations
  /** How many hashes waited how long until they began. */
  readonly hashWaits: Durations
  /** Expired refresh tokens that are not swept yet; null in a process that does not sweep. */
  readonly backlog: number | null
}

/** The buckets of a histogram: how many took at most so many seconds, and more than the bound before. */
export interface Durations {
  readonly bounds: readonly number[]
  /** One more than bounds: the last one has none. */
  readonly counts: readonly number[]
}
