import type { CustomTypesConfig } from 'pg'
import { driverOf } from './driver-of.js'
import { quoted, type SourceDatabase } from './source-database.js'

const timestampWithoutZone = 1114
const date = 1082

/** Times without a zone are read as UTC. */
export async function postgresSource(url: URL): Promise<SourceDatabase> {
  const { default: pg } = await driverOf('pg', () => import('pg'))
  const types: CustomTypesConfig = {
    getTypeParser(oid, format) {
      // As text: other rows of the import read such times in the same way.
      if (oid === timestampWithoutZone || oid === date) return (text: string) => text
      return pg.types.getTypeParser(oid, format)
    },
  }
  const client = new pg.Client({ connectionString: url.href, types })
  await client.connect()
  // A mistake here must not change what the other product has.
  await client.query('set default_transaction_read_only = on')

  return {
    name: `postgres://${url.host}${url.pathname}`,
    quote: (name) => quoted(name, '"'),
    placeholder: (n) => `$${n}`,
    async query(sql, values = []) {
      const { rows } = await client.query<Record<string, unknown>>(sql, [...values])
      return rows
    },
    async columns(table) {
      const { rows } = await client.query<{ readonly attname: string }>(
        'select attname from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped',
        [quoted(table, '"')],
      )
      return rows.map(({ attname }) => attname)
    },
    close: () => client.end(),
  }
}
