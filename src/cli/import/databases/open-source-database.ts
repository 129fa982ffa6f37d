import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CustomTypesConfig } from 'pg'
import type { Call } from '../../frame/command.js'
import { Refusal } from '../../frame/refusal.js'
import { type Cells, quoted, type SourceDatabase } from './source-database.js'

const sourceVariable = 'POSTERN_SOURCE_URL'

/**
 * The database that the environment names: `postgres:`, `mariadb:`, `mysql:`, or `sqlite:` with a path. It is no
 * argument, which other users of the machine see and shells keep.
 */
export function openSourceDatabase({
  env,
  cwd,
}: Pick<Call, 'env' | 'cwd'>): Promise<SourceDatabase> {
  const given = env[sourceVariable] ?? ''
  if (given.startsWith('sqlite:')) return sqliteSource(resolve(cwd, given.slice('sqlite:'.length)))
  const url = URL.canParse(given) ? new URL(given) : null
  switch (url?.protocol) {
    case 'postgres:':
    case 'postgresql:':
      return postgresSource(url)
    case 'mariadb:':
    case 'mysql:':
      return mariadbSource(url)
    default:
      // What it holds may be a password, so it is not repeated.
      throw new Refusal(
        `${sourceVariable} must be the address of the database to read: postgres://…, mariadb://…, mysql://… or sqlite:file.db.`,
        2,
      )
  }
}

/** Loads a driver, which is installed where it is needed alone. */
async function driverOf<Driver>(name: string, load: () => Promise<Driver>): Promise<Driver> {
  try {
    return await load()
  } catch (cause) {
    throw new Refusal(`The package ${name} is missing: npm install ${name}`, 2, { cause })
  }
}

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
async function mariadbSource(url: URL): Promise<SourceDatabase> {
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

const timestampWithoutZone = 1114
const date = 1082

/** Times without a zone are read as UTC. */
async function postgresSource(url: URL): Promise<SourceDatabase> {
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

/** A source in a file, read by the SQLite of Node 22.13 and newer. */
async function sqliteSource(path: string): Promise<SourceDatabase> {
  if (!existsSync(path)) throw new Refusal(`There is no file ${path}.`, 2)
  const { DatabaseSync } = await import('node:sqlite').catch((cause: unknown) => {
    throw new Refusal('This version of Node has no SQLite: use Node 22.13 or newer.', 2, { cause })
  })
  const database = new DatabaseSync(path, { readOnly: true })

  return {
    name: `sqlite:${path}`,
    quote: (name) => quoted(name, '"'),
    placeholder: () => '?',
    query: async (sql, values = []) => database.prepare(sql).all(...values.map(bindable)),
    async columns(table) {
      const rows = database.prepare('select name from pragma_table_info(?)').all(table)
      return rows.map(({ name }) => String(name))
    },
    close: async () => database.close(),
  }
}

function bindable(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value)
}
