import { Refusal } from '../../frame/refusal.js'
import { driverOf } from './driver-of.js'
import { type Cells, quoted, type SourceDatabase } from './source-database.js'

/** TLS as the parameters of such addresses name it, here and at other clients. Where it is on, the certificate is checked. */
const modes: Readonly<Record<string, boolean>> = {
  'ssl=true': true,
  'ssl=false': false,
  'ssl-mode=DISABLED': false,
  'ssl-mode=REQUIRED': true,
  'ssl-mode=VERIFY_CA': true,
  'ssl-mode=VERIFY_IDENTITY': true,
}

/** Throws `Refusal` for any other parameter of that kind: encryption must not be left out silently. */
export function tlsIn(url: URL): boolean {
  const ofTls = [...url.searchParams].filter(([name]) => /ssl|tls/i.test(name))
  const [given, ...more] = ofTls.map(([name, value]) => `${name}=${value}`)
  if (given === undefined) return false
  const mode = more.length > 0 ? undefined : modes[given]
  if (mode !== undefined) return mode
  const known = Object.keys(modes).join(', ')
  throw new Refusal(`The address of a MariaDB or MySQL may have one of these: ${known}.`, 2)
}

/** A source in MariaDB or MySQL. Times are read as UTC. */
export async function mariadbSource(url: URL): Promise<SourceDatabase> {
  const { createConnection } = await driverOf('mariadb', () => import('mariadb'))
  const database = decodeURIComponent(url.pathname.slice(1))
  const connection = await createConnection({
    host: url.hostname,
    port: Number(url.port || 3306),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ssl: tlsIn(url),
    dateStrings: true,
    bigIntAsNumber: true,
    decimalAsNumber: true,
    checkNumberRange: true,
  })
  // A mistake here must not change what the other product has.
  await connection.query('set session transaction read only')
  const query = (sql: string, values: readonly unknown[] = []): Promise<readonly Cells[]> =>
    connection.query(sql, [...values])

  return {
    name: `mariadb://${url.host}${url.pathname}`,
    quote: (name) => quoted(name, '`'),
    placeholder: () => '?',
    query,
    async columns(table) {
      const [first = '', second] = table.split('.')
      const place = second === undefined ? [database, first] : [first, second]
      const rows = await query(
        'select column_name as name from information_schema.columns where table_schema = ? and table_name = ?',
        place,
      )
      return rows.map(({ name }) => String(name))
    },
    close: () => connection.end(),
  }
}
