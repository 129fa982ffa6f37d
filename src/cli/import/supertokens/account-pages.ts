import type { SourceDatabase } from '../databases/source-database.js'
import type { AccountScope } from './read-accounts.js'

/** Ids of accounts of a tenant, in an order that stays. A cursor is the last id of its page. */
export interface AccountPages {
  total(): Promise<number>
  page(
    after: string | null,
    size: number,
  ): Promise<{ readonly ids: readonly string[]; readonly cursor: string | null }>
}

/** Accounts of which a linked user is in the tenant, each once. */
export function accountPages(
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
