import { Refusal } from '../../frame/refusal.js'
import { keysetPages } from '../databases/keyset-pages.js'
import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { SourceDatabase } from '../databases/source-database.js'
import type { Source } from '../rows/import-source.js'
import { type AuthjsRules, authjsRow } from './authjs-row.js'

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
