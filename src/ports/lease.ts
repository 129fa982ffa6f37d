import type { Inspection } from './inspection.js'

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
