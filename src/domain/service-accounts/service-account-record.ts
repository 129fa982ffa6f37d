import type { ServiceCredential } from '../../model/user.js'
import type { ServiceAccount } from './service-accounts.js'

/** A credential of a service account, without its secret. */
export interface ServiceCredentialRecord {
  readonly id: string
  readonly clientId: string
  readonly status: 'active' | 'revoked'
  /** Epoch milliseconds, as the other times. */
  readonly createdAt: number
  /** The actor; null when none was named. */
  readonly createdBy: string | null
  /** Within a minute; null before the first use. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
  readonly revokedBy: string | null
}

/** A service account as the host's code sees it. */
export interface ServiceAccountRecord {
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  /** The newest first, revoked ones too. */
  readonly credentials: readonly ServiceCredentialRecord[]
}

export function accountRecordOf({ user, credentials }: ServiceAccount): ServiceAccountRecord {
  const { id, name, enabled, createdAt, updatedAt } = user
  return { id, name, enabled, createdAt, updatedAt, credentials: credentials.map(recordOf) }
}

function recordOf(credential: ServiceCredential): ServiceCredentialRecord {
  const { id, clientId, status, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy } =
    credential
  return { id, clientId, status, createdAt, createdBy, lastUsedAt, revokedAt, revokedBy }
}
