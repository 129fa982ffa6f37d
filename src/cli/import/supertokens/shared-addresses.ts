import { type AccountScope, readAccounts } from './read-accounts.js'
import type { ReadRows } from './rows-of-app.js'
import {
  type AddressedLogin,
  addressOf,
  isBefore,
  type SupertokensAccount,
} from './supertokens-account.js'

export interface JudgedAccount {
  readonly account: SupertokensAccount
  /** Whether no unlinked account of the tenant has the address with more right, on this page or another one. */
  readonly isFirst: boolean
}

/** Says of accounts that are not linked and have one address which of them is carried. */
export async function withFirst(
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
