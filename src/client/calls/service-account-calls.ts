// Made by `npm run generate` from the operation table.

import type { Call } from './call.js'
import type { ServiceAccount, ServiceCredential } from './shapes.js'

/** Operations of the operator surface, by method and path. */
export interface OperatorServiceAccountCalls {
  /** The service accounts, by id. */
  readonly 'GET /v1/admin/service-accounts': Call<
    { readonly limit?: string; readonly cursor?: string },
    { readonly items: readonly ServiceAccount[]; readonly nextCursor: string | null }
  >
  /** Create a service account with its first credential; the secret is shown this once. */
  readonly 'POST /v1/admin/service-accounts': Call<
    { readonly name: string },
    {
      readonly id: string
      readonly kind: 'service'
      readonly name: string
      readonly email: string
      readonly systemRole: string
      readonly enabled: boolean
      readonly createdAt: string
      readonly updatedAt: string
      readonly credentials: readonly ServiceCredential[]
      readonly credentialId: string
      readonly clientId: string
      readonly clientSecret: string
    }
  >
  /** A service account and its credentials, without secrets. */
  readonly 'GET /v1/admin/service-accounts/{id}': Call<{ readonly id: string }, ServiceAccount>
  /** Rename, enable or disable a service account. */
  readonly 'PATCH /v1/admin/service-accounts/{id}': Call<
    { readonly id: string; readonly name?: string; readonly enabled?: boolean },
    ServiceAccount
  >
  /** Issue another credential, to rotate; the secret is shown this once. */
  readonly 'POST /v1/admin/service-accounts/{id}/credentials': Call<
    { readonly id: string },
    {
      readonly credentialId: string
      readonly clientId: string
      readonly clientSecret: string
      readonly status: 'active' | 'revoked'
      readonly createdAt: string
    }
  >
  /** Revoke a credential; tokens it got before live on until they expire. */
  readonly 'DELETE /v1/admin/service-accounts/{id}/credentials/{credentialId}': Call<
    { readonly id: string; readonly credentialId: string },
    null
  >
}
