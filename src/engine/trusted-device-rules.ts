/** What a stored grant says of itself. Times are epoch milliseconds. */
interface Grant {
  readonly userId: string
  readonly deviceEpoch: number
  readonly createdAt: number
  readonly expiresAt: number
}

/** Under what the grant is looked at. */
interface Circumstances {
  readonly user: { readonly id: string; readonly deviceEpoch: number }
  readonly now: number
  /** How long trust lasts by the settings of now: shortened, it ends older grants as well. */
  readonly ttlMs: number
}

/**
 * Whether a grant may stand for this user's second factor: it is theirs, nothing voided it
 * since, and its time is not up. One from the future comes from a wrong clock or is forged.
 */
export function isTrusted(grant: Grant, { user, now, ttlMs }: Circumstances): boolean {
  if (grant.userId !== user.id || grant.deviceEpoch !== user.deviceEpoch) return false
  return grant.createdAt <= now && now < trustedUntil(grant, ttlMs)
}

/** Epoch milliseconds from which the grant counts for nothing. */
export function trustedUntil(
  { createdAt, expiresAt }: Pick<Grant, 'createdAt' | 'expiresAt'>,
  ttlMs: number,
): number {
  return Math.min(expiresAt, createdAt + ttlMs)
}
