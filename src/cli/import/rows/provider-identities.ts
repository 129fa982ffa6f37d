import type { ImportedIdentity } from 'postern'
import type { Cells } from '../databases/source-database.js'
import type { NotCarried } from './import-source.js'
import { textOf } from './read-cell.js'

/** Microsoft has one for each tenant. */
const issuers = {
  google: 'https://accounts.google.com',
  github: 'https://github.com/login/oauth',
  apple: 'https://appleid.apple.com',
} as const

export function identityAt(provider: keyof typeof issuers, subject: string): ImportedIdentity {
  return { provider, issuer: issuers[provider], subject }
}

/** Where a source has the accounts at providers. */
export interface ProviderRows {
  /** The columns. */
  readonly provider: string
  readonly subject: string
  /** What the source calls Microsoft. */
  readonly microsoft: readonly string[]
  /** `null` if the tenant is unknown. */
  microsoftIdentity(subject: string, row: Cells): ImportedIdentity | null
  /** Says that in a sentence. */
  readonly noTenant: string
}

/** The accounts at providers of one user, and those that stay behind. */
export function providerIdentities(
  rows: readonly Cells[],
  { provider, subject, microsoft, microsoftIdentity, noTenant }: ProviderRows,
): { readonly identities: readonly ImportedIdentity[]; readonly left: readonly NotCarried[] } {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const row of rows) {
    const [name, id] = [textOf(row[provider]) ?? '', textOf(row[subject])]
    const isMicrosoft = microsoft.includes(name)
    const identityOf = isMicrosoft ? microsoftIdentity : identityByName(name)
    const identity = id === null ? null : identityOf(id, row)
    if (identity !== null) identities.push(identity)
    else left.push({ code: 'provider', reason: isMicrosoft ? noTenant : unknownProvider(name) })
  }
  return { identities, left }
}

const identityByName = (name: string) => (subject: string) =>
  name === 'google' || name === 'github' || name === 'apple' ? identityAt(name, subject) : null

function unknownProvider(provider: string): string {
  // Names of providers come from the configuration; any other text in their place is not repeated.
  const name = /^[\w-]{1,40}$/.test(provider) ? provider : 'another provider'
  return `An account at ${name} stays behind: there is Google, GitHub, Apple and Microsoft.`
}

export const noStoredToken =
  'An account at Microsoft stays behind: no ID token is stored that names its tenant.'

/**
 * From the ID token that is stored beside an account, which has tenant and subject. `accountId` is either its subject or
 * its id within the tenant (`oid`). `null` if the token is missing or belongs to another account.
 */
export function identityOfToken(accountId: string, idToken: unknown): ImportedIdentity | null {
  const { oid, sub, tid } = claimsOf(textOf(idToken) ?? '')
  if (![oid, sub].includes(accountId) || typeof tid !== 'string' || typeof sub !== 'string') {
    return null
  }
  return identityInTenant(tid, sub)
}

export function identityInTenant(tenant: string, subject: string): ImportedIdentity {
  const issuer = `https://login.microsoftonline.com/${tenant}/v2.0`
  return { provider: 'microsoft', issuer, subject }
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
