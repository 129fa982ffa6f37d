import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** What a challenge was made for; it is good for nothing else. */
export type PasskeyCeremony =
  | 'passkeyLogin'
  | 'passkeySecondFactor'
  | 'passkeyRegistration'
  | 'passkeyStepUp'

/** One WebAuthn ceremony that has begun. Taken by the first response to it, right or wrong. */
export interface PasskeyChallenge extends Doc {
  readonly ceremony: PasskeyCeremony
  /** 32 random bytes, base64url, for the authenticator to sign. */
  readonly challenge: string
  /** Empty for a passwordless login, whose user is not known yet. */
  readonly userId: string
  /** The session or the login ticket it was made in; empty for a passwordless login. */
  readonly boundTo: string
  /** The user's `deviceEpoch` then: a change of factors or password voids the challenge. */
  readonly deviceEpoch: number
  /** Their `credentialEpoch` then. */
  readonly credentialEpoch: number
  readonly expiresAt: number
}

export const passkeyChallengesSpec: SurfaceSpec<PasskeyChallenge> = {
  fields: {
    ceremony: { kind: 'text' },
    challenge: { kind: 'text' },
    userId: { kind: 'text' },
    boundTo: { kind: 'text' },
    deviceEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer', default: 0 },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
