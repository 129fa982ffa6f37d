// Made by `npm run generate` from the operation table.

import type { ServiceAccount, ServiceCredential } from './shapes.js'

/** Operations of the operator surface, by method and path. */
export interface OperatorServiceAccountCalls {
  /** The service accounts, by id. */
  readonly 'GET /v1/admin/service-accounts': {
    readonly input: { readonly limit?: string; readonly cursor?: string }
    readonly reply: {
      readonly items: readonly ServiceAccount[]
      readonly nextCursor: string | null
    }
  }
  /** Create a service account with its first credential; the secret is shown this once. */
  readonly 'POST /v1/admin/service-accounts': {
    readonly input: { readonly name: string }
    readonly reply: {
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
  }
  /** A service account and its credentials, without secrets. */
  readonly 'GET /v1/admin/service-accounts/{id}': {
    readonly input: { readonly id: string }
    readonly reply: ServiceAccount
  }
  /** Rename, enable or disable a service account. */
  readonly 'PATCH /v1/admin/service-accounts/{id}': {
    readonly input: { readonly id: string; readonly name?: string; readonly enabled?: boolean }
    readonly reply: ServiceAccount
  }
  /** Issue another credential, to rotate; the secret is shown this once. */
  readonly 'POST /v1/admin/service-accounts/{id}/credentials': {
    readonly input: { readonly id: string }
    readonly reply: {
      readonly credentialId: string
      readonly clientId: string
      readonly clientSecret: string
      readonly status: 'active' | 'revoked'
      readonly createdAt: string
    }
  }
  /** Revoke a credential; tokens it got before live on until they expire. */
  readonly 'DELETE /v1/admin/service-accounts/{id}/credentials/{credentialId}': {
    readonly input: { readonly id: string; readonly credentialId: string }
    readonly reply: null
  }
}
