import type { EndReason } from '../ports/events.js'
import type { Doc, SurfaceSpec } from '../ports/store.js'

/**
 * Audit history of one login. It can only deny, never grant: nothing
 * authenticates from it, and protected routes do not read it.
 */
export interface Session extends Doc {
  readonly userId: string
  readonly loginAt: number
  readonly active: boolean
  readonly endedAt: number | null
  readonly endReason: EndReason | null
  /** The first factor: `password`, `webauthn`, or the id of a provider. */
  readonly loginMethod: string
  readonly mfaMethod: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
}

/** Kept 90 days from login, then deleted without an extra period. */
export const sessionRetentionMs = 90 * 24 * 60 * 60 * 1000

export const sessionsSpec: SurfaceSpec<Session> = {
  fields: {
    userId: { kind: 'text' },
    loginAt: { kind: 'time' },
    active: { kind: 'boolean' },
    endedAt: { kind: 'time', nullable: true },
    endReason: { kind: 'text', nullable: true },
    loginMethod: { kind: 'text' },
    mfaMethod: { kind: 'text', nullable: true },
    ip: { kind: 'text', nullable: true },
    userAgent: { kind: 'text', nullable: true },
    deviceId: { kind: 'text', nullable: true },
  },
  // Not by `active` too: one more index to write at each login and each ending, to find the few that an
  // interrupted ending left open.
  indexes: [{ on: ['userId'] }],
  retiredIndexes: [{ on: ['userId', 'active'] }],
  expires: 'fixed',
}

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
  /** The highest generation that is known to have been presented; 0 before the first. */
  readonly shown: number
  /** HMAC of the user's id under the recognition id that the login granted; null without one. Never changed. */
  readonly device: string | null
  /** Whether the request of the newest rotation carried that id. */
  readonly byDevice: boolean
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
    shown: { kind: 'integer' },
    device: { kind: 'text', nullable: true },
    byDevice: { kind: 'boolean' },
    rotatedBy: { kind: 'text' },
    delivery: { kind: 'text' },
    revokedAt: { kind: 'time', nullable: true },
    revokedReason: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'sliding',
}

/**
 * The newest login of a person from one device in one network: what later logins are compared with. It
 * grants nothing but a budget of wrong guesses. Logins from the same place, however many, hide no other place.
 */
export interface KnownLogin extends Doc {
  readonly userId: string
  readonly loginAt: number
  readonly ip: string | null
  readonly userAgent: string | null
  readonly deviceId: string | null
  /** HMAC of the user's id under the recognition id that the device got; null without one. */
  readonly recognitionHash: string | null
  readonly loginMethod: string
  readonly mfaMethod: string | null
  /** The user's `secretsEpoch` at that login; -1 where none was kept. */
  readonly secretsEpoch: number
  /** That of the newest login from there that showed a second factor; -1 without one. */
  readonly factorEpoch: number
  readonly sessionId: string | null
  /** 90 days after that login. */
  readonly expiresAt: number
}

/** What was last seen longer ago is new. */
export const knownLoginMs = 90 * 24 * 60 * 60 * 1000

export const knownLoginsSpec: SurfaceSpec<KnownLogin> = {
  fields: {
    userId: { kind: 'text' },
    loginAt: { kind: 'time' },
    ip: { kind: 'text', nullable: true },
    userAgent: { kind: 'text', nullable: true },
    deviceId: { kind: 'text', nullable: true },
    recognitionHash: { kind: 'text', nullable: true },
    loginMethod: { kind: 'text' },
    mfaMethod: { kind: 'text', nullable: true },
    secretsEpoch: { kind: 'integer', default: -1 },
    factorEpoch: { kind: 'integer', default: -1 },
    sessionId: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }, { on: ['userId', 'recognitionHash'] }],
  expires: 'sliding',
}
