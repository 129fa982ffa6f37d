import type { ImportedIdentity } from 'postern'
import type { Cells } from '../databases/source-database.js'
import type { NotCarried } from '../rows/import-source.js'
import { leftProvider } from '../rows/left-provider.js'
import { providerIssuers } from '../rows/provider-issuers.js'
import { textOf } from '../rows/read-cell.js'

/** The accounts at providers of one user, and those that stay behind. */
export function identitiesOf(accounts: readonly Cells[]): {
  readonly identities: readonly ImportedIdentity[]
  readonly left: readonly NotCarried[]
} {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const account of accounts) {
    const provider = textOf(account['providerId']) ?? ''
    if (provider === 'credential') continue
    const found = identityOf(provider, account)
    if (found === null) left.push(provider === 'microsoft' ? noTenant : leftProvider(provider))
    else identities.push(found)
  }
  return { identities, left }
}

const noTenant: NotCarried = {
  code: 'provider',
  reason: 'An account at Microsoft stays behind: no ID token is stored that names its tenant.',
}

function identityOf(provider: string, account: Cells): ImportedIdentity | null {
  const subject = textOf(account['accountId'])
  if (subject === null) return null
  switch (provider) {
    case 'google':
    case 'github':
    case 'apple':
      return { provider, issuer: providerIssuers[provider], subject }
    case 'microsoft':
      return microsoftIdentity(subject, textOf(account['idToken']) ?? '')
    default:
      return null
  }
}

/** better-auth keeps the id within the tenant (`oid`); the ID token beside it has tenant and subject. */
function microsoftIdentity(accountId: string, idToken: string): ImportedIdentity | null {
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
