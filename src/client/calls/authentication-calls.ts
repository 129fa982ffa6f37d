// Made by `npm run generate` from the operation table.

import type {
  Authenticated,
  MfaEnrollmentRequired,
  MfaRequired,
  MobileAuthenticated,
  PasswordChangeRequired,
} from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface AuthenticationCalls {
  /** Create an account. */
  readonly 'POST /register': {
    readonly input: {
      readonly email: string
      readonly password: string
      readonly name?: string
      readonly acceptedTermsVersion?: string
      readonly registrationKey?: string
      readonly recognitionId?: string
    }
    readonly reply:
      | {
          readonly status: 'verificationRequired'
          readonly registrationKey?: string
          readonly expiresIn?: number
        }
      | Authenticated
      | MobileAuthenticated
      | PasswordChangeRequired
      | MfaRequired
      | MfaEnrollmentRequired
  }
  /** Confirm an e-mail address with the mailed token. */
  readonly 'POST /email/verify': {
    readonly input: {
      readonly token: string
      readonly newPassword?: string
      readonly currentPassword?: string
      readonly name?: string
      readonly acceptedTermsVersion?: string
      readonly registrationKey?: string
    }
    readonly reply: { readonly status: 'verified' }
  }
  /** Mail a new confirmation link. */
  readonly 'POST /email/verify/resend': {
    readonly input: { readonly email: string }
    readonly reply: { readonly status: 'accepted' }
  }
  /** Sign in with e-mail and password; the refresh token comes as a cookie. */
  readonly 'POST /login': {
    readonly input: { readonly email: string; readonly password: string }
    readonly reply: Authenticated | PasswordChangeRequired | MfaRequired | MfaEnrollmentRequired
  }
  /** End this session, or all of them; takes a bearer token, the cookie, or a body token. */
  readonly 'POST /logout': {
    readonly input: {
      readonly refreshToken?: string
      readonly everywhere?: boolean
      readonly recognitionId?: string
    }
    readonly reply: null
  }
  /** Mail a password reset link. */
  readonly 'POST /password/forgot': {
    readonly input: { readonly email: string }
    readonly reply: { readonly status: 'accepted' }
  }
  /** Set a new password with the mailed token; ends every session. */
  readonly 'POST /password/reset': {
    readonly input: { readonly token: string; readonly newPassword: string }
    readonly reply: null
  }
  /** What sign-in and registration pages have to know, the same for every caller. */
  readonly 'GET /options': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: {
      readonly registrationOpen: boolean
      readonly passwordLogin: boolean
      readonly passkeys: 'off' | 'secondFactor' | 'passwordless'
      readonly totp: boolean
      readonly providers: readonly string[]
      readonly passwordMinLength: number
      readonly passwordMaxLength: number
      readonly termsVersion: string | null
      readonly emailVerificationRequired: boolean
    }
  }
  /** The identity providers this surface lets people sign in with. */
  readonly 'GET /oauth/providers': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: {
      readonly providers: readonly { readonly id: string; readonly name: string }[]
    }
  }
  /** Mail a code to sign in with, in this browser or app. */
  readonly 'POST /login/code': {
    readonly input: { readonly email: string; readonly recognitionId?: string }
    readonly reply: {
      readonly status: 'accepted'
      readonly codeKey?: string
      readonly expiresIn: number
    }
  }
  /** Sign in with the mailed code, in the browser or app that asked for it. */
  readonly 'POST /login/code/verify': {
    readonly input: {
      readonly code: string
      readonly codeKey?: string
      readonly deviceToken?: string
      readonly recognitionId?: string
    }
    readonly reply:
      | Authenticated
      | MobileAuthenticated
      | PasswordChangeRequired
      | MfaRequired
      | MfaEnrollmentRequired
  }
}

/** Operations of the operator surface, by method and path. */
export interface OperatorAuthenticationCalls {
  /** Unlink another operator’s account of a provider. */
  readonly 'DELETE /users/{userId}/oauth/{provider}': {
    readonly input: { readonly userId: string; readonly provider: string }
    readonly reply: null
  }
  /** Mail a user a password reset link. */
  readonly 'POST /users/{userId}/password-reset': {
    readonly input: { readonly userId: string; readonly surface?: 'operator' | 'client' }
    readonly reply: { readonly status: 'accepted' }
  }
  /** Mail a user a new link to confirm their address. */
  readonly 'POST /users/{userId}/email-verification': {
    readonly input: { readonly userId: string; readonly surface?: 'operator' | 'client' }
    readonly reply: { readonly status: 'accepted' }
  }
}
