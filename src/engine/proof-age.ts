/** The longest age that may be asked for, in milliseconds: proofs are kept for little longer. */
export const longestProofAge = 60 * 60 * 1000

/** Whether an age may be asked for, in milliseconds. */
export function isProofAge(maxAgeMs: number | null): maxAgeMs is number {
  return maxAgeMs !== null && maxAgeMs > 0 && maxAgeMs <= longestProofAge
}

/** How far in the future a proof may lie, as a token may: the clocks of replicas differ. */
const maxAheadMs = 60_000

/**
 * Milliseconds since a proof or a login, for comparison with a longest age. 0 for one up to a minute in the future, which
 * came from a process whose clock is ahead. Null beyond that: it would prove something for longer than it should.
 */
export function proofAge(provedAt: number, now: number): number | null {
  const age = now - provedAt
  return age < -maxAheadMs ? null : Math.max(age, 0)
}
