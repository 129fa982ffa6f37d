// Made by `npm run generate` from the operation table.

import type {
  Assertion,
  Authenticated,
  MfaEnrollmentRequired,
  MfaRequired,
  MobileAuthenticated,
  Passkey,
  PasskeyAssertion,
  PasswordChangeRequired,
  User,
} from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface PasskeyCalls {
  /** Begin to register a passkey: options for navigator.credentials.create. */
  readonly 'POST /webauthn/registration/options': {
    readonly input: { readonly mfaToken?: string; readonly currentPassword?: string }
    readonly reply: {
      readonly challengeId: string
      readonly options: {
        readonly rp: { readonly id?: string; readonly name: string }
        readonly user: { readonly id: string; readonly name: string; readonly displayName: string }
        readonly challenge: string
        readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[]
        readonly timeout?: number
        readonly excludeCredentials?: readonly {
          readonly id: string
          readonly type: string
          readonly transports?: readonly string[]
        }[]
        readonly authenticatorSelection?: {
          readonly residentKey?: string
          readonly requireResidentKey?: boolean
          readonly userVerification?: string
        }
        readonly attestation?: string
        readonly hints?: readonly string[]
        readonly extensions?: { readonly credProps?: boolean }
      }
    }
  }
  /** Register the passkey; with a ticket, the login as well. */
  readonly 'POST /webauthn/registration/verify': {
    readonly input: {
      readonly mfaToken?: string
      readonly challengeId: string
      readonly response: {
        readonly id: string
        readonly rawId: string
        readonly type: 'public-key'
        readonly response: {
          readonly clientDataJSON: string
          readonly attestationObject: string
          readonly transports?: readonly string[] | null
        }
      }
      readonly name?: string
      readonly endOtherSessions?: boolean
      readonly recognitionId?: string
    }
    readonly reply:
      | Passkey
      | {
          readonly accessToken: string
          readonly tokenType: 'Bearer'
          readonly expiresIn: number
          readonly status: 'authenticated'
          readonly user: User
          readonly credentialId: string
          readonly name: string
          readonly createdAt: string
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
          readonly credentialId: string
          readonly name: string
          readonly createdAt: string
        }
      | {
          readonly status: 'passwordChangeRequired'
          readonly passwordToken: string
          readonly credentialId: string
          readonly name: string
          readonly createdAt: string
        }
      | {
          readonly status: 'mfaRequired'
          readonly mfaToken: string
          readonly expiresIn: number
          readonly methods: readonly ('totp' | 'backupCode' | 'webauthn')[]
          readonly credentialId: string
          readonly name: string
          readonly createdAt: string
        }
      | {
          readonly status: 'mfaEnrollmentRequired'
          readonly mfaToken: string
          readonly expiresIn: number
          readonly credentialId: string
          readonly name: string
          readonly createdAt: string
        }
  }
  /** Your passkeys, oldest first. */
  readonly 'GET /webauthn/credentials': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: {
      readonly items: readonly {
        readonly credentialId: string
        readonly name: string
        readonly createdAt: string
        readonly lastUsedAt: string | null
      }[]
    }
  }
  /** Remove a passkey; earlier proofs are void. */
  readonly 'DELETE /webauthn/credentials/{credentialId}': {
    readonly input: { readonly credentialId: string; readonly endOtherSessions?: boolean }
    readonly reply: null
  }
  /** Begin to sign in with a passkey, as second factor or without a password. */
  readonly 'POST /webauthn/login/options': {
    readonly input: { readonly mfaToken?: string }
    readonly reply: PasskeyAssertion
  }
  /** Finish a login with a passkey; its tokens go where the login began, cookie or body. */
  readonly 'POST /webauthn/login/verify': {
    readonly input: {
      readonly mfaToken?: string
      readonly challengeId: string
      readonly response: Assertion
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
  /** Begin to prove a passkey again; finished at /step-up. */
  readonly 'POST /webauthn/step-up/options': {
    readonly input: Readonly<Record<string, never>>
    readonly reply: PasskeyAssertion
  }
}
