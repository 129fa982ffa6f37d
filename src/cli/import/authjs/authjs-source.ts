import { Refusal } from '../../frame/refusal.js'
import { keysetPages } from '../databases/keyset-pages.js'
import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { Cells, SourceDatabase } from '../databases/source-database.js'
import { type CarryRules, carriedRow } from '../rows/carried-row.js'
import type { Source, SourceRow } from '../rows/import-source.js'
import { accountId } from '../rows/old-id.js'
import {
  identityOfToken,
  noStoredToken,
  type ProviderRows,
  providerIdentities,
} from '../rows/provider-identities.js'
import { textOf, timeOf } from '../rows/read-cell.js'

/** As the adapters for SQL, for Drizzle and for Prisma call them. Their columns have the same names. */
const names = [
  ['users', 'accounts'],
  ['user', 'account'],
  ['User', 'Account'],
] as const

/** The users of Auth.js (NextAuth.js). Throws `Refusal` where its tables are missing. */
export async function authjsSource(
  database: SourceDatabase,
  options: AuthjsRules,
): Promise<Source> {
  const [users, accounts] = await tablesOf(database)
  const pages = await keysetPages(database, { table: users, key: 'id', columns: null })

  return {
    fingerprint: `Auth.js in ${database.name}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      const ids = rows.map(({ id }) => String(id))
      const found = await rowsOfUsers(database, { table: accounts, by: 'userId' }, ids)
      return {
        rows: rows.map((user) =>
          authjsRow({ user, accounts: found.get(String(user['id'])) ?? [] }, options),
        ),
        cursor,
      }
    },
    close: () => database.close(),
  }
}

async function tablesOf(database: SourceDatabase): Promise<readonly [string, string]> {
  for (const [users, accounts] of names) {
    const [ofUsers, ofAccounts] = [await database.columns(users), await database.columns(accounts)]
    if (ofUsers.includes('emailVerified') && ofAccounts.includes('providerAccountId')) {
      return [users, accounts]
    }
  }
  throw new Refusal(
    'There are no tables users and accounts, user and account, or User and Account, with the columns of Auth.js: it was perhaps set up with other names. Rename them in a view.',
    2,
  )
}

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

const accountRows: ProviderRows = {
  provider: 'provider',
  subject: 'providerAccountId',
  // Its name until version 4 of NextAuth.js, and since.
  microsoft: ['azure-ad', 'microsoft-entra-id'],
  microsoftIdentity: (subject, { id_token }) => identityOfToken(subject, id_token),
  noTenant: noStoredToken,
}

/** One user of Auth.js, whose adapters have no passwords and no second factors. */
function authjsRow({ user, accounts }: AuthjsUser, options: AuthjsRules): SourceRow {
  const key = textOf(user['id']) ?? ''
  const { identities, left } = providerIdentities(accounts, accountRows)
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
