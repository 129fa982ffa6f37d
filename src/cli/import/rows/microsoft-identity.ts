import type { ImportedIdentity } from 'postern'
import type { NotCarried } from './import-source.js'

/** An account at Microsoft of which no tenant is known. */
export const noTenant: NotCarried = {
  code: 'provider',
  reason: 'An account at Microsoft stays behind: no ID token is stored that names its tenant.',
}

/**
 * From the ID token that is stored beside an account, which has tenant and subject. `accountId` is either its subject or
 * its id within the tenant (`oid`). Null where the token is missing or of another account.
 */
export function microsoftIdentity(accountId: string, idToken: string): ImportedIdentity | null {
  const { oid, sub, tid } = claimsOf(idToken)
  if (![oid, sub].includes(accountId) || typeof tid !== 'string' || typeof sub !== 'string') {
    return null
  }
  const issuer = `https://login.microsoftonline.com/${tid}/v2.0`
  return { provider: 'microsoft', issuer, subject: sub }
}

/** Not verified: the database that it is read from says whose it is. */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
    )
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch {
    return {}
  }
}
