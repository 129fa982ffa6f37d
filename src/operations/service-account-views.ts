import type { ServiceAccount } from '../domain/service-accounts/service-accounts.js'
import type { IssuedCredential } from '../domain/service-accounts/service-credentials.js'
import { isoTime } from './views.js'

type Credential = ServiceAccount['credentials'][number]

export function serviceAccountView({ user, credentials }: ServiceAccount) {
  return {
    id: user.id,
    kind: 'service' as const,
    name: user.name,
    email: user.email,
    systemRole: user.systemRole,
    enabled: user.enabled,
    createdAt: isoTime(user.createdAt),
    updatedAt: isoTime(user.updatedAt),
    credentials: credentials.map(credentialView),
  }
}

/** Everything but the hash. */
function credentialView(credential: Credential) {
  const { id, accountId, clientId, status, createdBy, revokedBy } = credential
  return {
    credentialId: id,
    accountId,
    clientId,
    status,
    createdAt: isoTime(credential.createdAt),
    createdBy,
    lastUsedAt: timeOrNull(credential.lastUsedAt),
    revokedAt: timeOrNull(credential.revokedAt),
    revokedBy,
  }
}

export function issuedCredentialView({ credential, clientSecret }: IssuedCredential) {
  const { id: credentialId, clientId, status, createdAt } = credential
  return { credentialId, clientId, clientSecret, status, createdAt: isoTime(createdAt) }
}

function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}
