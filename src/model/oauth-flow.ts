import type { Doc } from '../ports/store.js'
import type { SurfaceSpec } from './surface-spec.js'

/** What a flow to a provider is for: a browser's login, an app's login, or one more way to sign in. */
export type OauthFlowKind = 'web' | 'mobile' | 'link'

/**
 * A flow to a provider that began and has not come back. The id is the SHA-256 of the `state` sent
 * along (RFC 6749 §10.12). Single use: the callback takes it.
 */
export interface OauthFlow extends Doc {
  readonly provider: string
  readonly kind: OauthFlowKind
  /** The host's own address the browser goes on to; one of the settings' targets. */
  readonly redirectUri: string
  /** SHA-256 of what the browser that began keeps in a cookie; empty for an app, which has none. */
  readonly browserHash: string
  /** Nonce and PKCE verifier towards the provider, encrypted. */
  readonly sealedSecrets: string
  /** The app's own S256 challenge (RFC 7636 §4.2); empty unless `mobile`. */
  readonly codeChallenge: string
  /** Given back to the app as its `state`; null when it sent none. */
  readonly appState: string | null
  /** The version of the terms accepted on the way; empty when none was named. */
  readonly termsVersion: string
  /** The user who links, and the session; empty unless `link`. */
  readonly userId: string
  readonly sessionId: string
  /** That user's epochs then; any other value voids the flow. 0 unless `link`. */
  readonly credentialEpoch: number
  readonly deviceEpoch: number
  readonly expiresAt: number
}

export const oauthFlowsSpec: SurfaceSpec<OauthFlow> = {
  fields: {
    provider: { kind: 'text' },
    kind: { kind: 'text' },
    redirectUri: { kind: 'text' },
    browserHash: { kind: 'text' },
    sealedSecrets: { kind: 'text' },
    codeChallenge: { kind: 'text' },
    appState: { kind: 'text', nullable: true },
    termsVersion: { kind: 'text' },
    userId: { kind: 'text' },
    sessionId: { kind: 'text' },
    credentialEpoch: { kind: 'integer', default: 0 },
    deviceEpoch: { kind: 'integer', default: 0 },
  },
  indexes: [{ on: ['userId'] }],
  expires: 'fixed',
}
