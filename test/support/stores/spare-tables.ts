import { type Connection, createConnection, createPool, type Pool } from 'mariadb'
import { inject } from 'vitest'

/** Empty tables of MariaDB that one host has for itself. */
export interface SpareTables {
  readonly pool: Pool
  readonly tablePrefix: string
  /** Ends the pool. */
  putBack(): Promise<void>
}

/**
 * The tables stay for the hosts of other files, since making them takes much longer than emptying them, and go with
 * the database of the run. A lock of the server says which of them are in use. It ends with its connection.
 */
export async function takeSpareTables(): Promise<SpareTables> {
  const url = inject('mariadbUrl') ?? ''
  const holder = await createConnection(url)
  const tablePrefix = await freePrefix(holder)
  await empty(holder, tablePrefix)
  const pool = createPool(`${url}?connectionLimit=10&minimumIdle=1`)
  return {
    pool,
    tablePrefix,
    async putBack() {
      // First all that is still on its way, which another host must not meet.
      await pool.end()
      await holder.end()
    },
  }
}

async function freePrefix(holder: Connection): Promise<string> {
  for (let n = 0; ; n += 1) {
    const [row] = await holder.query("select get_lock(concat(database(), '_', ?), 0) as got", [n])
    if (Number(row.got) === 1) return `host${n}_`
  }
}

async function empty(holder: Connection, tablePrefix: string): Promise<void> {
  const rows: readonly { readonly name: string }[] = await holder.query(
    'select table_name as name from information_schema.tables ' +
      'where table_schema = database() and table_name like ?',
    [`${tablePrefix.replace('_', '\\_')}%`],
  )
  for (const { name } of rows) await holder.query(`delete from \`${name}\``)
}
