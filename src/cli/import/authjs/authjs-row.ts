import type { ImportedIdentity } from 'postern'
import type { Cells } from '../databases/source-database.js'
import { type CarryRules, carriedRow } from '../rows/carried-row.js'
import type { NotCarried, SourceRow } from '../rows/import-source.js'
import { leftProvider } from '../rows/left-provider.js'
import { microsoftIdentity, noTenant } from '../rows/microsoft-identity.js'
import { accountId } from '../rows/old-id.js'
import { providerIssuers } from '../rows/provider-issuers.js'
import { textOf, timeOf } from '../rows/read-cell.js'

export interface AuthjsUser {
  readonly user: Cells
  readonly accounts: readonly Cells[]
}

export interface AuthjsRules {
  readonly rules: CarryRules
  readonly space: string
  /** Whether an address that no mail confirmed counts as verified. */
  readonly isVerified: boolean
}

/** One user of Auth.js, whose adapters have no passwords and no second factors. */
export function authjsRow({ user, accounts }: AuthjsUser, options: AuthjsRules): SourceRow {
  const key = textOf(user['id']) ?? ''
  const { identities, left } = identitiesOf(accounts)
  const emailVerifiedAt = timeOf(user['emailVerified'])
  return carriedRow(
    {
      key,
      user: {
        id: accountId(`${options.space} authjs`, key),
        email: textOf(user['email']) ?? '',
        name: textOf(user['name']),
        ...(emailVerifiedAt === null && options.isVerified
          ? { emailVerified: true }
          : { emailVerifiedAt }),
      },
      identities,
      roles: [],
      totpSecret: null,
      notCarried: left,
    },
    options.rules,
  )
}

function identitiesOf(accounts: readonly Cells[]) {
  const identities: ImportedIdentity[] = []
  const left: NotCarried[] = []
  for (const account of accounts) {
    const provider = textOf(account['provider']) ?? ''
    const found = identityOf(provider, account)
    if (found === null) left.push(isMicrosoft(provider) ? noTenant : leftProvider(provider))
    else identities.push(found)
  }
  return { identities, left }
}

/** Its name until version 4 of NextAuth.js, and since. */
function isMicrosoft(provider: string): boolean {
  return provider === 'azure-ad' || provider === 'microsoft-entra-id'
}

function identityOf(provider: string, account: Cells): ImportedIdentity | null {
  const subject = textOf(account['providerAccountId'])
  if (subject === null) return null
  if (isMicrosoft(provider)) return microsoftIdentity(subject, textOf(account['id_token']) ?? '')
  switch (provider) {
    case 'google':
    case 'github':
    case 'apple':
      return { provider, issuer: providerIssuers[provider], subject }
    default:
      return null
  }
}
