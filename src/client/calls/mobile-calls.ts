// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { MobileAuthenticated, UnfinishedLogin } from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface MobileCalls {
  /** Sign in with e-mail and password; the refresh token comes in the body. */
  readonly 'POST /mobile/login': Call<
    {
      readonly email: string
      readonly password: string
      readonly deviceToken?: string
      readonly registrationKey?: string
      readonly signInKey?: string
      readonly recognitionId?: string
    },
    MobileAuthenticated | UnfinishedLogin
  >
  /** The address an app opens in the system browser to sign in with a provider. */
  readonly 'POST /mobile/oauth/{provider}/start': Call<
    {
      readonly provider: string
      readonly redirectUri: string
      readonly codeChallenge: string
      readonly codeChallengeMethod: 'S256'
      readonly appState?: string
      readonly acceptedTermsVersion?: string
    },
    { readonly authorizationUrl: string; readonly expiresIn: number }
  >
  /** Exchange the code from the redirect, once, with the verifier of its challenge. */
  readonly 'POST /mobile/oauth/exchange': Call<
    {
      readonly code: string
      readonly codeVerifier: string
      readonly deviceToken?: string
      readonly registrationKey?: string
      readonly recognitionId?: string
    },
    | {
        readonly status: 'verificationRequired'
        readonly registrationKey: string
        readonly expiresIn: number
      }
    | MobileAuthenticated
    | UnfinishedLogin
  >
}
