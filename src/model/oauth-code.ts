import type { CollectionSpec, Doc } from '../ports/store.js'
import type { Surface } from '../ports/surface.js'

/**
 * A code an app exchanges for tokens. The id is the SHA-256 of the code. Single use, and good only
 * with the verifier of the challenge the app began with (RFC 7636 §4.6).
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
  readonly expiresAt: number
}

export function oauthCodesOf(surface: Surface): CollectionSpec<OauthCode> {
  return {
    name: `${surface}_oauth_codes`,
    fields: {
      userId: { kind: 'text' },
      provider: { kind: 'text' },
      identityId: { kind: 'text' },
      codeChallenge: { kind: 'text' },
      sessionEpoch: { kind: 'integer' },
      credentialEpoch: { kind: 'integer' },
    },
    indexes: [],
    expires: 'fixed',
  }
}
