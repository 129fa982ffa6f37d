import { Refusal } from '../../frame/refusal.js'
import { keysetPages } from '../databases/keyset-pages.js'
import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { SourceDatabase } from '../databases/source-database.js'
import type { CarryRules } from '../rows/carried-row.js'
import type { Source } from '../rows/import-source.js'
import { betterAuthRow } from './better-auth-row.js'
import type { BetterAuthSecrets } from './better-auth-secrets.js'

export interface BetterAuthOptions {
  /** Null where the person gave none. */
  readonly secrets: BetterAuthSecrets | null
  readonly rules: CarryRules
  /** Keeps ids of two databases apart, such as the surface. */
  readonly space: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

/**
 * The users of better-auth, in the tables that it makes itself, under their own names: `user`, `account`, `twoFactor` and
 * `passkey`. Throws `Refusal` where they are missing, and where users have second factors and there is no secret.
 */
export async function betterAuthSource(
  database: SourceDatabase,
  options: BetterAuthOptions,
): Promise<Source> {
  const tables = await tablesOf(database)
  await checkSecrets(database, tables, options)
  const pages = await keysetPages(database, { table: 'user', key: 'id', columns: null })
  const ofUsers = (table: string, ids: readonly string[]) =>
    tables.has(table)
      ? rowsOfUsers(database, { table, by: 'userId' }, ids)
      : Promise.resolve(new Map())

  return {
    fingerprint: `better-auth in ${database.name}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      const ids = rows.map(({ id }) => String(id))
      const [accounts, factors, passkeys] = [
        await ofUsers('account', ids),
        await ofUsers('twoFactor', ids),
        await ofUsers('passkey', ids),
      ]
      const found = rows.map((user) => {
        const id = String(user['id'])
        return betterAuthRow(
          {
            user,
            accounts: accounts.get(id) ?? [],
            factor: factors.get(id)?.[0] ?? null,
            passkeys: passkeys.get(id)?.length ?? 0,
          },
          options,
        )
      })
      return { rows: found, cursor }
    },
    close: () => database.close(),
  }
}

/** Columns without which users would come along weaker than they were, or as strangers, and without a word. */
const needed: Readonly<Record<string, readonly string[]>> = {
  user: ['id', 'email', 'emailVerified'],
  account: ['userId', 'providerId', 'accountId'],
  twoFactor: ['userId', 'secret'],
}

async function tablesOf(database: SourceDatabase): Promise<ReadonlySet<string>> {
  const present = new Map<string, readonly string[]>()
  for (const table of ['user', 'account', 'twoFactor', 'passkey']) {
    const columns = await database.columns(table)
    if (columns.length > 0) present.set(table, columns)
  }
  const missing = ['user', 'account'].filter((table) => !present.has(table))
  if (missing.length > 0) throw otherNames(`no table ${missing.join(', ')}`)
  for (const [table, columns] of present) {
    const flag = table === 'user' && present.has('twoFactor') ? ['twoFactorEnabled'] : []
    const lacking = [...(needed[table] ?? []), ...flag].filter((name) => !columns.includes(name))
    if (lacking.length > 0) throw otherNames(`no column ${lacking.join(', ')} in ${table}`)
  }
  return new Set(present.keys())
}

function otherNames(what: string): Refusal {
  return new Refusal(
    `There is ${what}: better-auth was perhaps set up with other names. Rename them in a view.`,
    2,
  )
}

/** Better before the first account than at each of the rows. */
async function checkSecrets(
  database: SourceDatabase,
  tables: ReadonlySet<string>,
  { secrets, rules }: BetterAuthOptions,
): Promise<void> {
  if (secrets !== null || rules.dropSecondFactors || !tables.has('twoFactor')) return
  const [counted] = await database.query(
    `select count(*) as total from ${database.quote('twoFactor')}`,
  )
  const total = Number(counted?.['total'])
  if (total === 0) return
  throw new Refusal(
    `Second factors of ${total} users are encrypted: give the secret that better-auth had as BETTER_AUTH_SECRET, or take the users without with --drop-second-factors.`,
    2,
  )
}
