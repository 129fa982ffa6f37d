import type { Cells } from '../databases/source-database.js'
import { membersOf } from '../rows/members-of.js'
import { textOf, timeOf } from '../rows/read-cell.js'
import type { ReadRows } from './rows-of-app.js'
import type { SupertokensAccount, SupertokensLogin } from './supertokens-account.js'

/** Which users are read, and from where. */
export interface AccountScope {
  readonly app: string
  readonly tenant: string
  /** The table that says of which tenants a user is, and its column of the user. */
  readonly members: { readonly table: string; readonly by: string }
  /** The tables of users that there are. */
  readonly recipes: readonly RecipeTable[]
  /** Whether an address that nothing confirmed counts as verified. */
  readonly isVerified: boolean
}

export interface RecipeTable {
  readonly recipe: SupertokensLogin['recipe']
  readonly table: string
}

/** The accounts with these ids of SuperTokens, in their order. */
export async function readAccounts(
  read: ReadRows,
  scope: AccountScope,
  ids: readonly string[],
): Promise<readonly SupertokensAccount[]> {
  const linked = await read('app_id_to_user_id', 'primary_or_recipe_user_id', ids)
  const userIds = [...linked.values()].flat().map(({ user_id }) => String(user_id))
  const names = await userNames(read, [...ids, ...userIds])
  const nameOf = (id: string) => names.get(id)?.name ?? id
  const logins = await readLogins(read, scope, { userIds, nameOf })
  const keys = ids.map(nameOf)
  const devices = await read('totp_user_devices', 'user_id', keys)
  const roles = await read('user_roles', 'user_id', keys)
  const metadata = await read('user_metadata', 'user_id', keys)
  return ids.map((id, at) => {
    const key = keys[at] ?? id
    const own = (linked.get(id) ?? []).map(({ user_id }) => String(user_id))
    const found = own.map((userId) => logins.get(userId))
    const isOfTenant = ({ tenant_id }: Cells) => tenant_id === scope.tenant
    return {
      key,
      isShared: [id, ...own].some((one) => names.get(one)?.isShared === true),
      logins: found.flatMap((one) => one?.logins ?? []),
      isElsewhere: found.some((one) => one?.isElsewhere === true),
      devices: devices.get(key) ?? [],
      roles: (roles.get(key) ?? []).filter(isOfTenant).map(({ role }) => String(role)),
      metadata: parsed(metadata.get(key)?.[0]?.['user_metadata']),
    }
  })
}

interface Logins {
  readonly logins: readonly SupertokensLogin[]
  readonly isElsewhere: boolean
}

async function readLogins(
  read: ReadRows,
  { recipes, members, ...scope }: AccountScope,
  users: { readonly userIds: readonly string[]; readonly nameOf: (id: string) => string },
): Promise<ReadonlyMap<string, Logins>> {
  const { userIds, nameOf } = users
  const tenants = await read(members.table, members.by, userIds)
  const proofs = await read('emailverification_verified_emails', 'user_id', userIds.map(nameOf))
  const all = new Map<string, SupertokensLogin[]>(userIds.map((id) => [id, []]))
  for (const { recipe, table } of recipes) {
    for (const [id, rows] of await read(table, 'user_id', userIds)) {
      for (const cells of rows) {
        const stored = textOf(cells['email'])
        const email = stored === null || isMadeUp(stored) ? null : stored
        const proved = proofs.get(nameOf(id))?.some((proof) => proof['email'] === stored) === true
        const isVerified = email !== null && (proved || scope.isVerified)
        all.get(id)?.push({ id, recipe, email, isVerified, joinedAt: joined(cells), cells })
      }
    }
  }
  return new Map(
    userIds.map((id) => {
      const isMember = tenants.get(id)?.some(({ tenant_id }) => tenant_id === scope.tenant) === true
      const own = all.get(id) ?? []
      return [id, { logins: isMember ? own : [], isElsewhere: !isMember && own.length > 0 }]
    }),
  )
}

/** What its SDKs store where a provider gives no address. */
function isMadeUp(email: string): boolean {
  return email.endsWith('@stfakeemail.supertokens.com') || email.endsWith('.fakeemail.com')
}

function joined(cells: Cells): number {
  return timeOf(cells['time_joined']) ?? 0
}

function parsed(cell: unknown): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(textOf(cell) ?? '{}'))
  } catch {
    return {}
  }
}

export interface UserName {
  /** The id that the user was mapped to, or that of SuperTokens. Other tables call the user by it. */
  readonly name: string
  /** Whether another user has it: SuperTokens allows that where a mapping is made with force. */
  readonly isShared: boolean
}

/** By which ids the host knows users. */
async function userNames(
  read: ReadRows,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserName>> {
  const mappings = await read('userid_mapping', 'supertokens_user_id', ids)
  const mapped = new Map(
    [...mappings].flatMap(([id, [first]]) =>
      first === undefined ? [] : [[id, String(first['external_user_id'])] as const],
    ),
  )
  const users = await read('app_id_to_user_id', 'user_id', [...mapped.values()])
  const mappedTo = await read('userid_mapping', 'external_user_id', ids)
  const isUser = (id: string) => (users.get(id) ?? []).length > 0
  const isMappedTo = (id: string) =>
    (mappedTo.get(id) ?? []).some((row) => row['supertokens_user_id'] !== id)
  return new Map(
    ids.map((id) => {
      const name = mapped.get(id) ?? id
      return [id, { name, isShared: name === id ? isMappedTo(id) : isUser(name) }]
    }),
  )
}
