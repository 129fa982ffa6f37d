import type { EndReason } from '../ports/events.js'
import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * One login's refresh tokens: one row, whose id is the session id. Rotation is one guarded write
 * that moves `generation` on. The tokens themselves are never stored.
 */
export interface RefreshFamily extends Doc {
  readonly userId: string
  readonly loginAt: number
  /** The user's `sessionEpoch` at login. */
  readonly sessionEpoch: number
  /** The generation of the newest token; starts at 1. */
  readonly generation: number
  /** When the newest token was minted. */
  readonly rotatedAt: number
  /** `jti` of the token the last rotation minted: lets a request see that it won although the
   * store's answer was lost. */
  readonly rotatedTo: string
  /**
   * A token of this generation or of an older one is never exchanged for the newest, however soon it
   * comes: the password was changed while that was the newest. 0 = any may be.
   */
  readonly noReissueUpTo: number
  /**
   * A digest of the user agent and recognition id that have the newest token. With a session risk scorer, digests of the
   * network and the user agent follow, joined by dots.
   */
  readonly rotatedBy: string
  /** A token that is shown in another way is refused. */
  readonly delivery: 'cookie' | 'body'
  /** The idle deadline, a whole second, equal to the newest token's `exp`. */
  readonly expiresAt: number
  readonly revokedAt: number | null
  readonly revokedReason: EndReason | null
}

export const refreshFamiliesSpec: SurfaceSpec<RefreshFamily> = {
  fields: {
    userId: { kind: 'text' },
    loginAt: { kind: 'time' },
    sessionEpoch: { kind: 'integer' },
    generation: { kind: 'integer' },
    rotatedAt: { kind: 'time' },
    rotatedTo: { kind: 'text' },
    noReissueUpTo: { kind: 'integer' },
    rotatedBy: { kind: 'text' },
    delivery: { kind: 'text' },
    revokedAt: { kind: 'time', nullable: true },
    revokedReason: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'sliding',
}
