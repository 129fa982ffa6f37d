import { Refusal } from '../../frame/refusal.js'
import type { SourceDatabase } from '../databases/source-database.js'
import type { Source } from '../rows/import-source.js'
import { accountPages } from './account-pages.js'
import { type AccountScope, readAccounts } from './read-accounts.js'
import { rowsOfApp } from './rows-of-app.js'
import { withFirst } from './shared-addresses.js'
import { type SupertokensRules, supertokensRow } from './supertokens-row.js'
import { tenantMembers } from './tenant-members.js'

export interface SupertokensOptions extends SupertokensRules {
  readonly app: string
  readonly tenant: string
  /** Whether an address that nothing confirmed counts as verified. */
  readonly isVerified: boolean
}

const recipes = [
  { recipe: 'emailpassword', table: 'emailpassword_users' },
  { recipe: 'thirdparty', table: 'thirdparty_users' },
  { recipe: 'passwordless', table: 'passwordless_users' },
  { recipe: 'webauthn', table: 'webauthn_users' },
] as const

/** Since version 8.1 of its plugin. */
const newTable = 'webauthn_users'

/** A table without which something of users would be missed, and a column that is looked for. */
const needed: readonly (readonly [table: string, column: string])[] = [
  ['app_id_to_user_id', 'primary_or_recipe_user_id'],
  ['tenants', 'tenant_id'],
  ...recipes
    .filter(({ table }) => table !== newTable)
    .map(({ table }) => [table, 'app_id'] as const),
  ['emailverification_verified_emails', 'app_id'],
  ['userid_mapping', 'app_id'],
  ['totp_user_devices', 'app_id'],
  ['user_roles', 'app_id'],
  ['user_metadata', 'app_id'],
]

/** The users of one tenant of SuperTokens. Throws `Refusal` where a table is missing, or the tenant. */
export async function supertokensSource(
  database: SourceDatabase,
  options: SupertokensOptions,
): Promise<Source> {
  const scope = await scopeOf(database, options)
  const read = rowsOfApp(database, scope.app)
  const pages = accountPages(database, scope)
  const rules = { ...options, space: `${options.space} supertokens ${scope.app}` }

  return {
    fingerprint: `SuperTokens in ${database.name}, app ${scope.app}, tenant ${scope.tenant}`,
    total: pages.total,
    async page(after, size) {
      const { ids, cursor } = await pages.page(after, size)
      const accounts = await readAccounts(read, scope, ids)
      const judged = await withFirst(read, scope, accounts)
      const rows = judged.map(({ account, isFirst }) => supertokensRow(account, isFirst, rules))
      return { rows, cursor }
    },
    close: () => database.close(),
  }
}

async function scopeOf(
  database: SourceDatabase,
  { app, tenant, isVerified }: SupertokensOptions,
): Promise<AccountScope> {
  for (const [table, column] of needed) {
    if ((await database.columns(table)).includes(column)) continue
    throw new Refusal(
      `There is no table ${table} with the column ${column}: POSTERN_SOURCE_URL must be the Postgres of SuperTokens core 7 or newer, with the schema of its tables in the search_path.`,
      2,
    )
  }
  const found = await database.query(
    `select 1 from ${database.quote('tenants')}
      where app_id = ${database.placeholder(1)} and tenant_id = ${database.placeholder(2)}`,
    [app, tenant],
  )
  if (found.length === 0) {
    throw new Refusal(
      'SuperTokens has no such tenant: say which with --app-id and --tenant-id, of which each is "public" by default.',
      2,
    )
  }
  const hasNew = (await database.columns(newTable)).length > 0
  return {
    ...{ app, tenant, isVerified },
    members: await tenantMembers(database, app),
    recipes: recipes.filter(({ table }) => hasNew || table !== newTable),
  }
}
