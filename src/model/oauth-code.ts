import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/**
 * A code that an app exchanges for tokens. The id is the SHA-256 of the code. Single use, and good only
 * with the verifier of the app's challenge (RFC 7636 §4.6). It is kept after its use: a code that comes
 * again ends the login or session that it opened (RFC 6749 §4.1.2).
 */
export interface OauthCode extends Doc {
  readonly userId: string
  readonly provider: string
  /** The identity that signed in: one unlinked meanwhile opens nothing. */
  readonly identityId: string
  readonly codeChallenge: string
  /** The user's epochs at the callback; any other value voids the code. */
  readonly sessionEpoch: number
  readonly credentialEpoch: number
  /** Epoch milliseconds. */
  readonly goodUntil: number
  /** Null until the app shows it with its verifier; written once. */
  readonly redeemedAt: number | null
  /** When it came again, with the verifier: nothing comes of it any more. Null before. */
  readonly replayedAt: number | null
  /** The session it came to, now or after a second factor; null before. */
  readonly sessionId: string | null
  /** Until when it is known that there was one. */
  readonly expiresAt: number
}

export const oauthCodesSpec: SurfaceSpec<OauthCode> = {
  fields: {
    userId: { kind: 'text' },
    provider: { kind: 'text' },
    identityId: { kind: 'text' },
    codeChallenge: { kind: 'text' },
    sessionEpoch: { kind: 'integer' },
    credentialEpoch: { kind: 'integer' },
    goodUntil: { kind: 'time', default: 0 },
    redeemedAt: { kind: 'time', nullable: true },
    replayedAt: { kind: 'time', nullable: true },
    sessionId: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
