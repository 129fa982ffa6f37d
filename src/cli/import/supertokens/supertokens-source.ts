import { Refusal } from '../../frame/refusal.js'
import type { SourceDatabase } from '../databases/source-database.js'
import type { Source } from '../rows/import-source.js'
import { type AccountScope, readAccounts } from './read-accounts.js'
import { type ReadRows, rowsOfApp } from './rows-of-app.js'
import {
  type AddressedLogin,
  addressOf,
  isBefore,
  type SupertokensAccount,
} from './supertokens-account.js'
import { type SupertokensRules, supertokensRow } from './supertokens-row.js'

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

/** Ids of accounts of a tenant, in an order that stays. A cursor is the last id of its page. */
export interface AccountPages {
  total(): Promise<number>
  page(
    after: string | null,
    size: number,
  ): Promise<{ readonly ids: readonly string[]; readonly cursor: string | null }>
}

/** Accounts of which a linked user is in the tenant, each once. */
function accountPages(
  database: SourceDatabase,
  { app, tenant, members }: AccountScope,
): AccountPages {
  const account = 'u.primary_or_recipe_user_id'
  const ofTenant = `from ${database.quote('app_id_to_user_id')} u
    where u.app_id = ${database.placeholder(1)} and exists (
      select 1 from ${database.quote(members.table)} m
      where m.app_id = u.app_id and m.${database.quote(members.by)} = u.user_id
        and m.tenant_id = ${database.placeholder(2)})`

  return {
    async total() {
      const [counts = {}] = await database.query(
        `select count(distinct ${account}) as total ${ofTenant}`,
        [app, tenant],
      )
      return Number(counts['total'])
    },
    async page(after, size) {
      const start = after === null ? '' : `and ${account} > ${database.placeholder(3)}`
      const rows = await database.query(
        `select distinct ${account} as id ${ofTenant} ${start} order by id limit ${size}`,
        after === null ? [app, tenant] : [app, tenant, after],
      )
      const ids = rows.map(({ id }) => String(id))
      return { ids, cursor: rows.length < size ? null : (ids.at(-1) ?? null) }
    },
  }
}

const former = { table: 'all_auth_recipe_users', by: 'user_id' }
const current = { table: 'recipe_user_tenants', by: 'recipe_user_id' }

/**
 * The table that says of which tenants users are. Version 9.5 of its plugin brought another one, which holds them all
 * once none of the app's users waits to be copied; until then, the former one is written alone or too. Throws `Refusal`
 * where both are missing.
 */
async function tenantMembers(
  database: SourceDatabase,
  app: string,
): Promise<{ readonly table: string; readonly by: string }> {
  const isThere = async (table: string) => (await database.columns(table)).length > 0
  if (!(await isThere(current.table))) {
    if (await isThere(former.table)) return former
    throw new Refusal(`There is no table ${former.table}, and no table ${current.table}.`, 2)
  }
  if (!(await isThere(former.table))) return current
  const [users, members] = [database.quote('app_id_to_user_id'), database.quote(former.table)]
  const waiting = await database.query(
    `select 1 from ${users} u join ${members} m on m.app_id = u.app_id and m.user_id = u.user_id
      where u.app_id = ${database.placeholder(1)} and u.time_joined = 0 limit 1`,
    [app],
  )
  return waiting.length > 0 ? former : current
}

export interface JudgedAccount {
  readonly account: SupertokensAccount
  /** Whether no unlinked account of the tenant has the address with more right, on this page or another one. */
  readonly isFirst: boolean
}

/** Says of accounts that are not linked and have one address which of them is carried. */
async function withFirst(
  read: ReadRows,
  scope: AccountScope,
  accounts: readonly SupertokensAccount[],
): Promise<readonly JudgedAccount[]> {
  const all = [...accounts, ...(await rivalsOf(read, scope, accounts))]
  const firsts = new Map<string, AddressedLogin>()
  for (const address of all.map(addressOf)) {
    if (address === null) continue
    const first = firsts.get(address.email)
    if (first === undefined || isBefore(address, first)) firsts.set(address.email, address)
  }
  return accounts.map((account) => {
    const own = addressOf(account)
    return { account, isFirst: own === null || firsts.get(own.email)?.id === own.id }
  })
}

/** Accounts of other pages that have one of the addresses. */
async function rivalsOf(
  read: ReadRows,
  scope: AccountScope,
  accounts: readonly SupertokensAccount[],
): Promise<readonly SupertokensAccount[]> {
  const known = new Set(accounts.flatMap(({ logins }) => logins.map(({ id }) => id)))
  const emails = accounts.flatMap((account) => addressOf(account)?.email ?? [])
  const others = new Set<string>()
  for (const { table } of scope.recipes) {
    for (const rows of (await read(table, 'email', emails)).values()) {
      for (const { user_id: id } of rows) if (!known.has(String(id))) others.add(String(id))
    }
  }
  const users = await read('app_id_to_user_id', 'user_id', [...others])
  const ids = [...users.values()].flat().map((user) => String(user['primary_or_recipe_user_id']))
  return readAccounts(read, scope, [...new Set(ids)])
}
