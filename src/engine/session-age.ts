/**
 * True when the session is older than the cap. At exactly the cap it still stands, one millisecond
 * later it does not. `absoluteTtlMs` null = no cap.
 */
export function capReached(loginAt: number, absoluteTtlMs: number | null, now: number): boolean {
  return absoluteTtlMs !== null && now - loginAt > absoluteTtlMs
}
