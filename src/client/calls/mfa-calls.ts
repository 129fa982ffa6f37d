// Made by `npm run generate` from the operation table.

import type {
  Assertion,
  Authenticated,
  MfaEnrollmentRequired,
  MfaRequired,
  MobileAuthenticated,
  PasswordChangeRequired,
  User,
} from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface MfaCalls {
  /** Your second factors and your newest proof. */
  readonly 'GET /mfa': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: {
      readonly policy: 'off' | 'optional' | 'required'
      readonly totp: { readonly enrolled: boolean }
      readonly backupCodes: { readonly remaining: number }
      readonly passkeys: number
      readonly stepUp: { readonly provedAt: string | null }
    }
  }
  /** Begin with an authenticator app: a secret to scan, which counts once a code confirms it. */
  readonly 'POST /mfa/totp': {
    readonly input: { readonly mfaToken?: string; readonly currentPassword?: string }
    readonly reply: { readonly secret: string; readonly otpauthUri: string }
  }
  /** Confirm the authenticator app with a code of it; answers backup codes, this once. */
  readonly 'POST /mfa/totp/confirm': {
    readonly input: {
      readonly mfaToken?: string
      readonly code: string
      readonly endOtherSessions?: boolean
      readonly recognitionId?: string
    }
    readonly reply:
      | { readonly backupCodes: readonly string[] }
      | {
          readonly accessToken: string
          readonly tokenType: 'Bearer'
          readonly expiresIn: number
          readonly status: 'authenticated'
          readonly user: User
          readonly backupCodes: readonly string[]
        }
      | {
          readonly accessToken: string
          readonly tokenType: 'Bearer'
          readonly expiresIn: number
          readonly status: 'authenticated'
          readonly user: User
          readonly refreshToken: string
          readonly refreshExpiresIn: number
          readonly deviceToken?: string
          readonly recognitionId?: string
          readonly backupCodes: readonly string[]
        }
      | {
          readonly status: 'passwordChangeRequired'
          readonly passwordToken: string
          readonly backupCodes: readonly string[]
        }
      | {
          readonly status: 'mfaRequired'
          readonly mfaToken: string
          readonly expiresIn: number
          readonly methods: readonly ('totp' | 'backupCode' | 'webauthn')[]
          readonly backupCodes: readonly string[]
        }
      | {
          readonly status: 'mfaEnrollmentRequired'
          readonly mfaToken: string
          readonly expiresIn: number
          readonly backupCodes: readonly string[]
        }
  }
  /** Remove the authenticator app; earlier proofs are void. */
  readonly 'DELETE /mfa/totp': {
    readonly input: { readonly endOtherSessions?: boolean }
    readonly reply: null
  }
  /** New backup codes, shown this once; the old ones are void. */
  readonly 'POST /mfa/backup-codes': {
    readonly input: { readonly endOtherSessions?: boolean }
    readonly reply: { readonly backupCodes: readonly string[] }
  }
  /** Finish a login with a code; its tokens go where the login began, cookie or body. */
  readonly 'POST /login/mfa': {
    readonly input: {
      readonly mfaToken: string
      readonly method: 'totp' | 'backupCode'
      readonly code: string
      readonly trustDevice?: boolean
      readonly deviceName?: string
      readonly recognitionId?: string
    }
    readonly reply:
      | Authenticated
      | MobileAuthenticated
      | PasswordChangeRequired
      | MfaRequired
      | MfaEnrollmentRequired
  }
  /** Prove a second factor again, for acts that ask for a recent proof. */
  readonly 'POST /step-up': {
    readonly input:
      | { readonly method: 'totp' | 'backupCode'; readonly code: string }
      | { readonly method: 'webauthn'; readonly challengeId: string; readonly response: Assertion }
    readonly reply: {
      readonly provedAt: string
      readonly method: 'totp' | 'backupCode' | 'webauthn'
    }
  }
}

/** Operations of the operator surface, by method and path. */
export interface OperatorMfaCalls {
  /** Take all second factors from a user who lost them; ends their sessions and forgets trusted devices. */
  readonly 'POST /v1/auth/operator/users/{userId}/mfa-reset': {
    readonly input: { readonly userId: string; readonly surface?: 'operator' | 'client' }
    readonly reply: null
  }
}
