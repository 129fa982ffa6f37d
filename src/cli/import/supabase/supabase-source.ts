import { Refusal } from '../../frame/refusal.js'
import { keysetPages } from '../databases/keyset-pages.js'
import { rowsOfUsers } from '../databases/rows-of-users.js'
import type { SourceDatabase } from '../databases/source-database.js'
import type { CarryRules } from '../rows/carried-row.js'
import type { Source } from '../rows/import-source.js'
import { supabaseRow } from './supabase-row.js'

export interface SupabaseOptions {
  readonly rules: CarryRules
  /** Keeps ids of two databases apart, such as the surface. */
  readonly space: string
  /** Epoch milliseconds. */
  readonly now: () => number
}

const identities = { table: 'auth.identities', by: 'user_id' }
const factors = { table: 'auth.mfa_factors', by: 'user_id' }

/** The users of Supabase Auth, in the schema `auth` of its database. Throws `Refusal` where that is missing. */
export async function supabaseSource(
  database: SourceDatabase,
  options: SupabaseOptions,
): Promise<Source> {
  const tables = ['auth.users', identities.table, factors.table]
  for (const table of tables) {
    if ((await database.columns(table)).length > 0) continue
    throw new Refusal(
      `There is no table ${table}, or its reader may not see it: POSTERN_SOURCE_URL must be the Postgres of the project, with a role that reads the schema auth.`,
      2,
    )
  }
  const pages = await keysetPages(database, { table: 'auth.users', key: 'id', columns: null })

  return {
    fingerprint: `Supabase in ${database.name}`,
    total: pages.total,
    async page(after, size) {
      const { rows, cursor } = await pages.page(after, size)
      const ids = rows.map(({ id }) => String(id))
      const ofIdentities = await rowsOfUsers(database, identities, ids)
      const ofFactors = await rowsOfUsers(database, factors, ids)
      const found = rows.map((user) => {
        const id = String(user['id'])
        const own = {
          identities: ofIdentities.get(id) ?? [],
          factors: ofFactors.get(id) ?? [],
        }
        return supabaseRow({ user, ...own }, options)
      })
      return { rows: found, cursor }
    },
    close: () => database.close(),
  }
}
