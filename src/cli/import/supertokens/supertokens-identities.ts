import type { ImportedIdentity } from 'postern'
import type { NotCarried } from '../rows/import-source.js'
import { leftProvider } from '../rows/left-provider.js'
import { providerIssuers } from '../rows/provider-issuers.js'
import { textOf } from '../rows/read-cell.js'
import type { SupertokensLogin } from './supertokens-account.js'

const noTenant: NotCarried = {
  code: 'provider',
  reason: 'An account at Microsoft stays behind: --microsoft-tenant names no directory.',
}

/** The accounts at providers, and those that stay behind. `microsoftTenant` is a UUID, or null. */
export function supertokensIdentities(
  logins: readonly SupertokensLogin[],
  microsoftTenant: string | null,
): {
  readonly identities: readonly ImportedIdentity[]
  readonly left: readonly NotCarried[]
} {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const { recipe, cells } of logins) {
    if (recipe !== 'thirdparty') continue
    const provider = textOf(cells['third_party_id']) ?? ''
    const subject = textOf(cells['third_party_user_id'])
    const found = subject === null ? null : identityOf(provider, subject, microsoftTenant)
    if (found !== null) identities.push(found)
    else left.push(provider === 'active-directory' ? noTenant : leftProvider(provider))
  }
  return { identities, left }
}

function identityOf(
  provider: string,
  subject: string,
  microsoftTenant: string | null,
): ImportedIdentity | null {
  switch (provider) {
    case 'google':
    case 'github':
    case 'apple':
      return { provider, issuer: providerIssuers[provider], subject }
    case 'google-workspaces':
      return { provider: 'google', issuer: providerIssuers.google, subject }
    case 'active-directory': {
      if (microsoftTenant === null) return null
      const issuer = `https://login.microsoftonline.com/${microsoftTenant}/v2.0`
      return { provider: 'microsoft', issuer, subject }
    }
    default:
      return null
  }
}
