import type { ImportedIdentity } from 'postern'
import type { Cells } from '../databases/source-database.js'
import type { NotCarried } from '../rows/import-source.js'
import { leftProvider } from '../rows/left-provider.js'
import { membersOf } from '../rows/members-of.js'
import { providerIssuers } from '../rows/provider-issuers.js'
import { textOf } from '../rows/read-cell.js'

/** The issuer of one tenant: no token names the shared issuers of several tenants. */
const microsoftIssuer = /^https:\/\/login\.microsoftonline\.com\/[0-9a-f-]{36}\/v2\.0$/

const noTenant: NotCarried = {
  code: 'provider',
  reason: 'An account at Microsoft stays behind: nothing stored names its tenant.',
}

/** The accounts at providers of one user, and those that stay behind. */
export function supabaseIdentities(rows: readonly Cells[]): {
  readonly identities: readonly ImportedIdentity[]
  readonly left: readonly NotCarried[]
} {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const row of rows) {
    const provider = textOf(row['provider']) ?? ''
    // What users of a password or of a phone have beside it.
    if (provider === 'email' || provider === 'phone') continue
    const found = identityOf(provider, row)
    if (found === null) left.push(provider === 'azure' ? noTenant : leftProvider(provider))
    else identities.push(found)
  }
  return { identities, left }
}

function identityOf(provider: string, row: Cells): ImportedIdentity | null {
  const subject = textOf(row['provider_id'])
  if (subject === null) return null
  switch (provider) {
    case 'google':
    case 'github':
    case 'apple':
      return { provider, issuer: providerIssuers[provider], subject }
    case 'azure':
      return microsoftIdentity(subject, row['identity_data'])
    default:
      return null
  }
}

function microsoftIdentity(subject: string, data: unknown): ImportedIdentity | null {
  const { iss, sub } = membersOf(data)
  if (typeof iss !== 'string' || !microsoftIssuer.test(iss) || sub !== subject) return null
  return { provider: 'microsoft', issuer: iss, subject }
}
