/**
 * True when the session is older than the cap. At exactly the cap it still stands, one millisecond
 * later it does not. `absoluteTtlMs` null = no cap.
 */
export function capReached(loginAt: number, absoluteTtlMs: number | null, now: number): boolean {
  return absoluteTtlMs !== null && now - loginAt > absoluteTtlMs
}

/** What bounds an access token, beside its own lifetime. */
export interface AccessBounds {
  /** Milliseconds. */
  readonly ttlMs: number
  /** The idle deadline of its session, in epoch milliseconds. */
  readonly idleEndsAt: number
  /** Milliseconds from the login; null = no cap. */
  readonly absoluteTtlMs: number | null
}

/**
 * The `exp` of an access token minted at `iat`, in epoch seconds: it outlives neither the idle window
 * nor the cap of its session, to the second: one minted in the last second lives that second.
 * `authTime` is the second of the login.
 */
export function accessExpiry(
  iat: number,
  authTime: number,
  { ttlMs, idleEndsAt, absoluteTtlMs }: AccessBounds,
): number {
  const seconds = (ms: number) => Math.floor(ms / 1000)
  const capEndsAt = absoluteTtlMs === null ? Infinity : authTime + seconds(absoluteTtlMs)
  return Math.max(iat + 1, Math.min(iat + seconds(ttlMs), seconds(idleEndsAt), capEndsAt))
}
