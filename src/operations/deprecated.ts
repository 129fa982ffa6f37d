/** Both are instants in UTC as ISO 8601, such as `2027-06-30T00:00:00Z`. */
export interface Deprecated {
  /** The time from which new clients should not use it, past or future (RFC 9745). */
  readonly since: string
  /** When it is expected to be gone; not before `since` (RFC 8594). */
  readonly sunset?: string
}
