import { Refusal } from '../../frame/refusal.js'
import type { SourceDatabase } from '../databases/source-database.js'

const former = { table: 'all_auth_recipe_users', by: 'user_id' }
const current = { table: 'recipe_user_tenants', by: 'recipe_user_id' }

/**
 * The table that says of which tenants users are. Version 9.5 of its plugin brought another one, which holds them all
 * once none of the app's users waits to be copied; until then, the former one is written alone or too. Throws `Refusal`
 * where both are missing.
 */
export async function tenantMembers(
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
