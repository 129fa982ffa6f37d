import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * The newest login of a person from one device in one network: what later logins are compared with. It
 * grants nothing. Logins from the same place, however many, hide no other place.
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
  },
  indexes: [{ on: ['userId'] }],
  expires: 'sliding',
}
