// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { Authenticated, LoginReply, UnfinishedLogin } from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface AuthenticationCalls {
  /** Create an account. */
  readonly 'POST /register': Call<
    {
      readonly email: string
      readonly password: string
      readonly name?: string
      readonly acceptedTermsVersion?: string
      readonly registrationKey?: string
      readonly recognitionId?: string
    },
    | {
        readonly status: 'verificationRequired'
        readonly registrationKey?: string
        readonly expiresIn?: number
      }
    | LoginReply
  >
  /** Confirm an e-mail address with the mailed token. */
  readonly 'POST /email/verify': Call<
    {
      readonly token: string
      readonly newPassword?: string
      readonly currentPassword?: string
      readonly name?: string
      readonly acceptedTermsVersion?: string
      readonly registrationKey?: string
    },
    { readonly status: 'verified' }
  >
  /** Mail a new confirmation link. */
  readonly 'POST /email/verify/resend': Call<
    { readonly email: string },
    { readonly status: 'accepted' }
  >
  /** Sign in with e-mail and password; the refresh token comes as a cookie. */
  readonly 'POST /login': Call<
    { readonly email: string; readonly password: string },
    Authenticated | UnfinishedLogin
  >
  /** End this session, or all of them; takes a bearer token, the cookie, or a body token. */
  readonly 'POST /logout': Call<
    {
      readonly refreshToken?: string
      readonly everywhere?: boolean
      readonly recognitionId?: string
    },
    null
  >
  /** Mail a password reset link. */
  readonly 'POST /password/forgot': Call<
    { readonly email: string },
    { readonly status: 'accepted' }
  >
  /** Set a new password with the mailed token; ends every session. */
  readonly 'POST /password/reset': Call<
    { readonly token: string; readonly newPassword: string },
    null
  >
  /** What sign-in and registration pages have to know, the same for every caller. */
  readonly 'GET /options': Call<
    Readonly<Record<string, never>>,
    {
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
  >
  /** The identity providers this surface lets people sign in with. */
  readonly 'GET /oauth/providers': Call<
    Readonly<Record<string, never>>,
    { readonly providers: readonly { readonly id: string; readonly name: string }[] }
  >
  /** Mail a code to sign in with, in this browser or app. */
  readonly 'POST /login/code': Call<
    { readonly email: string; readonly recognitionId?: string },
    { readonly status: 'accepted'; readonly codeKey?: string; readonly expiresIn: number }
  >
  /** Sign in with the mailed code, in the browser or app that asked for it. */
  readonly 'POST /login/code/verify': Call<
    {
      readonly code: string
      readonly codeKey?: string
      readonly deviceToken?: string
      readonly recognitionId?: string
    },
    LoginReply
  >
}

/** Operations of the operator surface, by method and path. */
export interface OperatorAuthenticationCalls {
  /** Unlink another operator’s account of a provider. */
  readonly 'DELETE /users/{userId}/oauth/{provider}': Call<
    { readonly userId: string; readonly provider: string },
    null
  >
  /** Mail a user a password reset link. */
  readonly 'POST /users/{userId}/password-reset': Call<
    { readonly userId: string; readonly surface?: 'operator' | 'client' },
    { readonly status: 'accepted' }
  >
  /** Mail a user a new link to confirm their address. */
  readonly 'POST /users/{userId}/email-verification': Call<
    { readonly userId: string; readonly surface?: 'operator' | 'client' },
    { readonly status: 'accepted' }
  >
}
