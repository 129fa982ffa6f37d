// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { Assertion, LoginReply, Passkey, PasskeyAssertion } from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface PasskeyCalls {
  /** Begin to register a passkey: options for navigator.credentials.create. */
  readonly 'POST /webauthn/registration/options': Call<
    { readonly mfaToken?: string; readonly currentPassword?: string },
    {
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
  >
  /** Register the passkey; with a ticket, the login as well. */
  readonly 'POST /webauthn/registration/verify': Call<
    {
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
    },
    | Passkey
    | (LoginReply & {
        readonly credentialId: string
        readonly name: string
        readonly createdAt: string
      })
  >
  /** Your passkeys, oldest first. */
  readonly 'GET /webauthn/credentials': Call<
    Readonly<Record<string, never>>,
    {
      readonly items: readonly {
        readonly credentialId: string
        readonly name: string
        readonly createdAt: string
        readonly lastUsedAt: string | null
      }[]
    }
  >
  /** Remove a passkey; earlier proofs are void. */
  readonly 'DELETE /webauthn/credentials/{credentialId}': Call<
    { readonly credentialId: string; readonly endOtherSessions?: boolean },
    null
  >
  /** Begin to sign in with a passkey, as second factor or without a password. */
  readonly 'POST /webauthn/login/options': Call<{ readonly mfaToken?: string }, PasskeyAssertion>
  /** Finish a login with a passkey; its tokens go where the login began, cookie or body. */
  readonly 'POST /webauthn/login/verify': Call<
    {
      readonly mfaToken?: string
      readonly challengeId: string
      readonly response: Assertion
      readonly trustDevice?: boolean
      readonly deviceName?: string
      readonly recognitionId?: string
    },
    LoginReply
  >
  /** Begin to prove a passkey again; finished at /step-up. */
  readonly 'POST /webauthn/step-up/options': Call<Readonly<Record<string, never>>, PasskeyAssertion>
}
