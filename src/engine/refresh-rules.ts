/** How a session's refresh tokens are handed out, and so the one way in which they may be shown. */
export type Delivery = 'cookie' | 'body'

/** What the row of a refresh family says; a structural part of the stored document. */
export interface FamilyState<Reason extends string = string> {
  readonly loginAt: number
  readonly sessionEpoch: number
  readonly generation: number
  readonly rotatedAt: number
  readonly rotatedTo: string
  readonly noReissueUpTo: number
  /** The highest generation noted as presented. */
  readonly shown: number
  /** HMAC of the recognition id that the login granted; null without one. */
  readonly device: string | null
  /** Whether the request of the newest rotation carried that id. */
  readonly byDevice: boolean
  readonly delivery: Delivery
  readonly expiresAt: number
  readonly revokedAt: number | null
  readonly revokedReason: Reason | null
}

export interface RefreshPolicy {
  /** Milliseconds; 0 = strict: every token but the newest is replay at once. */
  readonly graceMs: number
  /** Milliseconds; null = no absolute cap. */
  readonly absoluteTtlMs: number | null
}

export interface Presented {
  readonly generation: number
  /** The `jti` this request would mint; null for a request that mints no refresh token. */
  readonly nextJti: string | null
  /** Families of another epoch are refused; null = this session was spared explicitly. */
  readonly requiredEpoch: number | null
  /** How the token was shown; null where that makes no difference. */
  readonly delivery: Delivery | null
  /** HMACs of the recognition ids that the request carries. */
  readonly devices: readonly string[]
}

export type RefreshDecision<Reason extends string = string> =
  /** The token is of the current generation and nothing forbids its use. */
  | { readonly outcome: 'current' }
  /** This request's own write won; only its answer had been lost. */
  | { readonly outcome: 'alreadyRotated' }
  /** The predecessor or the newest token that was presented, within the grace: a second tab or a lost reply. */
  | { readonly outcome: 'reissue' }
  /** The newest token that was presented, after the grace and from its own device: the reply was lost. */
  | { readonly outcome: 'lateRotation' }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'revoked'; readonly reason: Reason | null }
  | { readonly outcome: 'rolledBack' }
  | { readonly outcome: 'replay' }
  | { readonly outcome: 'expired' }
  | { readonly outcome: 'maxAge' }
  /** The user ended all sessions after this family's login. */
  | { readonly outcome: 'outdated' }
  /** A cookie's token in a body, or the other way round. */
  | { readonly outcome: 'wrongDelivery' }

/**
 * What a refresh token of a family is worth now. Decides and never writes. The order is part of
 * the contract: a reason once recorded is always repeated, a replay is found in an expired family
 * too, and the cap is checked before a re-issue as well.
 */
export function judgeRefresh<Reason extends string>(
  family: FamilyState<Reason> | null,
  presented: Presented,
  policy: RefreshPolicy,
  now: number,
): RefreshDecision<Reason> {
  if (family === null) return { outcome: 'unknown' }
  if (family.revokedAt !== null) return { outcome: 'revoked', reason: family.revokedReason }
  if (presented.nextJti !== null && family.rotatedTo === presented.nextJti) {
    return { outcome: 'alreadyRotated' }
  }
  if (presented.generation > family.generation) return { outcome: 'rolledBack' }
  const behind = family.generation - presented.generation
  const answer = behind === 0 ? 'current' : answerToRetired(family, presented, policy, now)
  if (answer === 'replay') return { outcome: 'replay' }
  if (family.expiresAt <= now) return { outcome: 'expired' }
  if (presented.requiredEpoch !== null && family.sessionEpoch !== presented.requiredEpoch) {
    return { outcome: 'outdated' }
  }
  if (capReached(family.loginAt, policy.absoluteTtlMs, now)) return { outcome: 'maxAge' }
  if (presented.delivery !== null && presented.delivery !== family.delivery) {
    return { outcome: 'wrongDelivery' }
  }
  return { outcome: answer }
}

function answerToRetired(
  { generation, noReissueUpTo, rotatedAt, shown, device, byDevice }: FamilyState,
  presented: Presented,
  { graceMs }: RefreshPolicy,
  now: number,
): 'reissue' | 'lateRotation' | 'replay' {
  // Zero is strict even when another replica's clock, ahead of ours, wrote `rotatedAt`.
  if (graceMs === 0 || presented.generation <= noReissueUpTo) return 'replay'
  const isShown = presented.generation === shown
  const isPredecessor = generation - presented.generation === 1
  if ((isShown || isPredecessor) && now - rotatedAt < graceMs) return 'reissue'
  const isSameDevice = byDevice && device !== null && presented.devices.includes(device)
  return isShown && isSameDevice ? 'lateRotation' : 'replay'
}

/** The condition of the write that rotates a family. */
export interface RotationGuard {
  readonly generation: number
  readonly revokedAt: null
  readonly expiresAt: { readonly gt: number }
  readonly sessionEpoch?: number
  readonly loginAt?: { readonly gt: number }
  readonly delivery?: Delivery
  readonly device?: string | null
  readonly byDevice?: true
  readonly shown?: number
  readonly noReissueUpTo?: { readonly lte: number }
}

/**
 * The rule once more, for the store to apply in the moment of the write: the guard holds on a stored
 * family exactly when `judgeRefresh` finds the token `current`.
 */
export function rotationGuard(
  { generation, requiredEpoch, delivery }: Presented,
  { absoluteTtlMs }: Pick<RefreshPolicy, 'absoluteTtlMs'>,
  now: number,
): RotationGuard {
  return {
    generation,
    revokedAt: null,
    expiresAt: { gt: now },
    ...(requiredEpoch === null ? {} : { sessionEpoch: requiredEpoch }),
    ...(delivery === null ? {} : { delivery }),
    ...(absoluteTtlMs === null ? {} : { loginAt: { gt: now - absoluteTtlMs - 1 } }),
  }
}

/** The same of a token that `judgeRefresh` finds good for a late rotation of this row. */
export function lateRotationGuard(
  { generation, device }: FamilyState,
  presented: Presented,
  policy: Pick<RefreshPolicy, 'absoluteTtlMs'>,
  now: number,
): RotationGuard {
  return {
    ...rotationGuard({ ...presented, generation }, policy, now),
    ...{ shown: presented.generation, device, byDevice: true },
    // A password change may have come between the read and this write.
    noReissueUpTo: { lte: presented.generation - 1 },
  }
}

/**
 * The idle deadline a refresh at `now` writes: a whole second, so that the row, the token's `exp`
 * and the cookie's Max-Age agree.
 */
export function idleDeadline(now: number, idleMs: number): number {
  return (Math.floor(now / 1000) + Math.floor(idleMs / 1000)) * 1000
}

/**
 * True when the session is older than the cap. At exactly the cap it still stands, one millisecond
 * later it does not. `absoluteTtlMs` null = no cap.
 */
export function capReached(loginAt: number, absoluteTtlMs: number | null, now: number): boolean {
  return absoluteTtlMs !== null && now - loginAt > absoluteTtlMs
}
