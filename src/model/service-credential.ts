import type { CollectionSpec, Doc } from '../ports/store.js'

/** A client id and secret of a service account. Its id is the `credentialId` of the routes. */
export interface ServiceCredential extends Doc {
  /** The operator user it belongs to. */
  readonly accountId: string
  /** `sa_` and 16 random bytes: says nothing of the account. */
  readonly clientId: string
  /** PHC string, by the same hasher as passwords. */
  readonly secretHash: string
  /** Never active again once revoked. */
  readonly status: 'active' | 'revoked'
  readonly createdAt: number
  /** The user who asked for it. */
  readonly createdBy: string | null
  /** Within a minute; null before the first grant. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

/** There is one collection: service accounts live on the operator surface alone. */
export const serviceCredentialsSpec: CollectionSpec<ServiceCredential> = {
  name: 'service_account_credentials',
  fields: {
    accountId: { kind: 'text' },
    clientId: { kind: 'text' },
    secretHash: { kind: 'text' },
    status: { kind: 'text' },
    createdAt: { kind: 'time' },
    createdBy: { kind: 'text', nullable: true },
    lastUsedAt: { kind: 'time', nullable: true },
    revokedAt: { kind: 'time', nullable: true },
    revokedBy: { kind: 'text', nullable: true },
  },
  indexes: [{ on: ['clientId'], unique: true }, { on: ['accountId'] }],
  expires: 'never',
}
