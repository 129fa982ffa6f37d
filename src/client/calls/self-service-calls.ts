// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { Account } from './shapes.js'

/** Operations of both surfaces, by method and path. */
export interface SelfServiceCalls {
  /** Your own account. */
  readonly 'GET /me': Call<Readonly<Record<string, never>>, Account>
  /** Change your name. */
  readonly 'PATCH /me': Call<{ readonly name: string }, Account>
  /** Change your password; ends your other sessions unless the settings say otherwise. */
  readonly 'POST /me/password': Call<
    { readonly currentPassword: string; readonly newPassword: string },
    null
  >
  /** Mail a link to another address, which becomes yours once it is confirmed. */
  readonly 'POST /me/email': Call<
    { readonly newEmail: string; readonly currentPassword?: string },
    { readonly status: 'accepted' }
  >
  /** Delete your account with everything kept of it; ends every session. */
  readonly 'DELETE /me': Call<{ readonly currentPassword?: string }, null>
}

/** Operations of the operator surface, by method and path. */
export interface OperatorSelfServiceCalls {
  /** Your sessions of the last 90 days, newest first. */
  readonly 'GET /sessions': Call<
    Readonly<Record<string, never>>,
    {
      readonly items: readonly {
        readonly id: string
        readonly loginAt: string
        readonly expiresAt: string
        readonly active: boolean
        readonly ip: string | null
        readonly userAgent: string | null
        readonly current: boolean
      }[]
    }
  >
  /** End one of your sessions. */
  readonly 'DELETE /sessions/{sessionId}': Call<{ readonly sessionId: string }, null>
  /** Begin to link an account of a provider, to sign in with it from then on. */
  readonly 'POST /oauth/{provider}/link': Call<
    { readonly provider: string; readonly redirectUri: string; readonly currentPassword?: string },
    { readonly authorizationUrl: string; readonly expiresIn: number }
  >
  /** Unlink your account of a provider, unless you could not sign in any more. */
  readonly 'DELETE /oauth/{provider}/link': Call<
    { readonly provider: string; readonly currentPassword?: string },
    null
  >
}
