import type { ImportedIdentity } from 'postern'
import type { Cells } from '../databases/source-database.js'
import type { NotCarried } from '../rows/import-source.js'
import { leftProvider } from '../rows/left-provider.js'
import { microsoftIdentity, noTenant } from '../rows/microsoft-identity.js'
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
