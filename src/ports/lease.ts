export interface LeaseRecord {
  /** Random token of the holder; null once released. */
  readonly owner: string | null
  /** Grows by one with every change, also across holders: a fencing token. */
  readonly renewal: number
}

/**
 * A named record that one replica may change at a time. The port knows no time: a contender takes
 * over only after it has itself seen the same `renewal` unchanged for a whole lease time on its own
 * clock, so no two machines' clocks are ever compared.
 */
export interface Lease {
  /** The record, or null when nobody ever held it. */
  read(name: string): Promise<LeaseRecord | null>
  /**
   * Replaces `seen` by `next`, or creates it when `seen` is null. False, changing nothing, when the
   * stored record is not exactly `seen`. Of racers with the same `seen`, one gets true.
   */
  replace(name: string, seen: LeaseRecord | null, next: LeaseRecord): Promise<boolean>
}
