// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { Assertion, LoginReply } from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface MfaCalls {
  /** Your second factors and your newest proof. */
  readonly 'GET /mfa': Call<
    Readonly<Record<string, never>>,
    {
      readonly policy: 'off' | 'optional' | 'required'
      readonly totp: { readonly enrolled: boolean }
      readonly backupCodes: { readonly remaining: number }
      readonly passkeys: number
      readonly stepUp: { readonly provedAt: string | null }
    }
  >
  /** Begin with an authenticator app: a secret to scan, which counts once a code confirms it. */
  readonly 'POST /mfa/totp': Call<
    { readonly mfaToken?: string; readonly currentPassword?: string },
    { readonly secret: string; readonly otpauthUri: string }
  >
  /** Confirm the authenticator app with a code of it; answers backup codes, this once. */
  readonly 'POST /mfa/totp/confirm': Call<
    {
      readonly mfaToken?: string
      readonly code: string
      readonly endOtherSessions?: boolean
      readonly recognitionId?: string
    },
    | { readonly backupCodes: readonly string[] }
    | (LoginReply & { readonly backupCodes: readonly string[] })
  >
  /** Remove the authenticator app; earlier proofs are void. */
  readonly 'DELETE /mfa/totp': Call<{ readonly endOtherSessions?: boolean }, null>
  /** New backup codes, shown this once; the old ones are void. */
  readonly 'POST /mfa/backup-codes': Call<
    { readonly endOtherSessions?: boolean },
    { readonly backupCodes: readonly string[] }
  >
  /** Finish a login with a code; its tokens go where the login began, cookie or body. */
  readonly 'POST /login/mfa': Call<
    {
      readonly mfaToken: string
      readonly method: 'totp' | 'backupCode'
      readonly code: string
      readonly trustDevice?: boolean
      readonly deviceName?: string
      readonly recognitionId?: string
    },
    LoginReply
  >
  /** Prove a second factor again, for acts that ask for a recent proof. */
  readonly 'POST /step-up': Call<
    | { readonly method: 'totp' | 'backupCode'; readonly code: string }
    | { readonly method: 'webauthn'; readonly challengeId: string; readonly response: Assertion },
    { readonly provedAt: string; readonly method: 'totp' | 'backupCode' | 'webauthn' }
  >
}

/** Operations of the operator surface, by method and path. */
export interface OperatorMfaCalls {
  /** Take all second factors from a user who lost them; ends their sessions and forgets trusted devices. */
  readonly 'POST /v1/auth/operator/users/{userId}/mfa-reset': Call<
    { readonly userId: string; readonly surface?: 'operator' | 'client' },
    null
  >
}
