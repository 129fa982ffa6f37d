import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { PGlite } from '@electric-sql/pglite'
import { Redis } from 'ioredis'
import { createPool } from 'mariadb'
import { BSON, MongoClient } from 'mongodb'
import { inject } from 'vitest'
import { mariadb } from '../../../adapters/mariadb/index.js'
import { mongo } from '../../../adapters/mongo/index.js'
import { postgres } from '../../../adapters/postgres/index.js'
import { redis } from '../../../adapters/redis/index.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import {
  keysUnder,
  newPrefix,
  removeKeys,
  singleClients,
} from '../../support/stores/redis-clients.js'

/** What a store holds, read and written by its own driver, past the library. Empty tables are left out of `rows`. */
export interface Physical {
  /** The statements that make the tables, where there are tables. */
  readonly made: readonly string[]
  readonly rows: Readonly<Record<string, unknown>>
}

export interface PhysicalStore {
  readonly backend: Backend
  read(): Promise<Physical>
  /** Into an empty store. */
  put(physical: Physical): Promise<void>
  close(): Promise<void>
}

type Row = Readonly<Record<string, unknown>>

/** Tables by name with their rows, those without rows left out. */
async function filled(
  names: readonly string[],
  rowsOf: (name: string) => Promise<readonly unknown[]>,
): Promise<Physical['rows']> {
  const rows: Record<string, unknown> = {}
  for (const name of [...names].sort()) {
    const found = await rowsOf(name)
    if (found.length > 0) rows[name] = found
  }
  return rows
}

const rowsIn = ({ rows }: Physical): readonly (readonly [string, readonly Row[]])[] =>
  Object.entries(rows).map(([name, found]) => [name, found as readonly Row[]])

async function openSqlite(): Promise<PhysicalStore> {
  const database = new DatabaseSync(':memory:')
  const listed =
    "select name, sql from sqlite_master where sql is not null and type in ('table', 'index')"
  return {
    backend: sqlite(database),
    async read() {
      const found = database.prepare(`${listed} order by type desc, name`).all()
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all()
      const rowsOf = async (name: string) =>
        database.prepare(`select * from "${name}" order by 1`).all()
      const names = tables.map(({ name }) => String(name))
      return { made: found.map(({ sql }) => String(sql)), rows: await filled(names, rowsOf) }
    },
    async put(physical) {
      for (const statement of physical.made) database.exec(statement)
      for (const [name, rows] of rowsIn(physical)) {
        for (const row of rows) {
          const columns = Object.keys(row).map((column) => `"${column}"`)
          const marks = columns.map(() => '?')
          const values = Object.values(row) as (string | number | null)[]
          database.prepare(`insert into "${name}" (${columns}) values (${marks})`).run(...values)
        }
      }
    },
    close: async () => database.close(),
  }
}

const columnsOf = `
  select c.relname as name, string_agg(format('%I %s%s', a.attname, format_type(a.atttypid, a.atttypmod)
    || case when a.attcollation <> 0 and l.collname <> 'default' then format(' collate %I', l.collname) else '' end
    || case when a.attidentity <> '' then ' generated always as identity'
         when a.attgenerated <> '' then format(' generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
         when d.adbin is null then '' else ' default ' || pg_get_expr(d.adbin, d.adrelid) end,
    case when a.attnotnull then ' not null' else '' end), ', ' order by a.attnum) as columns
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
  left join pg_collation l on l.oid = a.attcollation
  where c.relnamespace = 'postern'::regnamespace and c.relkind = 'r'
  group by c.relname order by c.relname`

const constraintsOf = `
  select format('alter table %I add constraint %I %s', c.relname, n.conname, pg_get_constraintdef(n.oid)) as text
  from pg_constraint n join pg_class c on c.oid = n.conrelid
  where c.relnamespace = 'postern'::regnamespace and n.contype in ('p', 'u', 'c') order by 1`

const indexesOf = `
  select indexdef as text from pg_indexes where schemaname = 'postern' and indexname not in
  (select conname from pg_constraint) order by 1`

/** The columns that are given a value, and the one that counts on from the largest. */
const givenColumns = `
  select a.attname as name, a.attidentity <> '' as counts from pg_attribute a
  where a.attrelid = $1::regclass and a.attnum > 0 and a.attgenerated = ''`

async function putRows(database: PGlite, table: string, rows: readonly Row[]): Promise<void> {
  const { rows: columns } = await database.query<{ name: string; counts: boolean }>(givenColumns, [
    `"${table}"`,
  ])
  const names = columns.map(({ name }) => `"${name}"`).join(', ')
  const from = `jsonb_populate_recordset(null::"${table}", $1)`
  const insert = `insert into "${table}" (${names}) overriding system value select ${names} from ${from}`
  await database.query(insert, [JSON.stringify(rows)])
  for (const { name } of columns.filter(({ counts }) => counts)) {
    const sequence = `pg_get_serial_sequence('"${table}"', '${name}')`
    await database.query(`select setval(${sequence}, (select max("${name}") from "${table}"))`)
  }
}

async function openPostgres(): Promise<PhysicalStore> {
  const database = await PGlite.create()
  await database.exec('create schema postern; set search_path = postern')
  const texts = async (query: string) =>
    (await database.query<{ text: string }>(query)).rows.map(({ text }) => text)
  return {
    backend: postgres(database),
    async read() {
      const { rows } = await database.query<{ name: string; columns: string }>(columnsOf)
      const tables = rows.map(({ name, columns }) => `create table "${name}" (${columns})`)
      const rowsOf = async (name: string) => {
        const query = `select to_jsonb(t) as row from "${name}" t order by to_jsonb(t) ->> 'id'`
        return (await database.query<{ row: Row }>(query)).rows.map(({ row }) => row)
      }
      return {
        made: [...tables, ...(await texts(constraintsOf)), ...(await texts(indexesOf))],
        rows: await filled(
          rows.map(({ name }) => name),
          rowsOf,
        ),
      }
    },
    async put(physical) {
      for (const statement of physical.made) await database.exec(statement)
      for (const [name, rows] of rowsIn(physical)) await putRows(database, name, rows)
    },
    close: () => database.close(),
  }
}

async function openMariadb(): Promise<PhysicalStore> {
  const url = inject('mariadbUrl') ?? ''
  const name = `golden_${randomBytes(6).toString('hex')}`
  const address = new URL(url)
  const first = createPool(url)
  await first.query(`create database ${name}`)
  address.pathname = `/${name}`
  const pool = createPool(String(address))
  const exact = { bigIntAsNumber: true, dateStrings: true }
  const tables = async () =>
    (await pool.query('show tables')).map((row: Row) => String(Object.values(row)[0])).sort()
  return {
    backend: mariadb(pool),
    async read() {
      const names: readonly string[] = await tables()
      const made: string[] = []
      for (const table of names) {
        const [row] = await pool.query(`show create table \`${table}\``)
        made.push(String(row['Create Table']))
      }
      const rowsOf = async (table: string) => [
        ...(await pool.query({ ...exact, sql: `select * from \`${table}\` order by 1` })),
      ]
      return { made, rows: await filled(names, rowsOf) }
    },
    async put(physical) {
      for (const statement of physical.made) await pool.query(statement)
      for (const [table, rows] of rowsIn(physical)) {
        for (const row of rows) {
          const columns = Object.keys(row).map((column) => `\`${column}\``)
          const marks = columns.map(() => '?')
          const values = Object.values(row).map((value) =>
            typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
          )
          await pool.query(`insert into \`${table}\` (${columns}) values (${marks})`, values)
        }
      }
    },
    async close() {
      await pool.end()
      await first.query(`drop database ${name}`)
      await first.end()
    },
  }
}

async function openMongo(): Promise<PhysicalStore> {
  const server = inject('mongo')
  if (server === null) throw new Error('no MongoDB')
  const client = await new MongoClient(server.url).connect()
  const db = client.db(`${server.databasePrefix}_${randomBytes(6).toString('hex')}`)
  return {
    backend: mongo({ db }),
    async read() {
      const names = (await db.listCollections().toArray()).map(({ name }) => name)
      const rowsOf = async (name: string) => {
        const found = await db.collection(name).find().sort({ _id: 1 }).toArray()
        return found.map((row) => BSON.EJSON.serialize(row, { relaxed: false }))
      }
      return { made: [], rows: await filled(names, rowsOf) }
    },
    async put(physical) {
      for (const [name, rows] of rowsIn(physical)) {
        const typed = rows.map((row) => BSON.EJSON.deserialize(row, { relaxed: false }))
        await db.collection(name).insertMany(typed)
      }
    },
    async close() {
      await db.dropDatabase()
      await client.close()
    },
  }
}

/** Members of a hash, or scores of a sorted set, which come in pairs. */
const pairsOf = (flat: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    flat.flatMap((one, i) => (i % 2 === 0 ? [[one, flat[i + 1] ?? ''] as const] : [])).sort(),
  )

const redisPrefix = 'PREFIX:'

async function openRedis(): Promise<PhysicalStore> {
  const url = inject('redisUrl') ?? ''
  const keyPrefix = newPrefix()
  const { client, close } = await singleClients['node-redis'](url)
  const raw = new Redis(url)
  const readKey = async (name: string): Promise<readonly unknown[]> => {
    const key = name.replace(redisPrefix, keyPrefix)
    const type = await raw.type(key)
    const scores = ['0', '-1', 'WITHSCORES']
    const value = await (type === 'zset'
      ? raw.call('ZRANGE', key, ...scores)
      : raw.call('HGETALL', key))
    if (!Array.isArray(value)) throw new Error(`${name} is a ${type}`)
    return [type, pairsOf(value.flat())]
  }
  return {
    backend: redis(client, { keyPrefix }),
    async read() {
      const keys = await keysUnder(url, keyPrefix)
      const names = keys.map((key) => key.replace(keyPrefix, redisPrefix))
      return { made: [], rows: await filled(names, readKey) }
    },
    async put({ rows }) {
      for (const [name, row] of Object.entries(rows)) {
        const key = name.replace(redisPrefix, keyPrefix)
        const [type, value] = row as readonly [string, Readonly<Record<string, string>>]
        const scored = Object.entries(value).flatMap(([member, score]) => [score, member])
        if (type === 'zset') await raw.zadd(key, ...scored)
        else await raw.hset(key, value)
      }
    },
    async close() {
      raw.disconnect()
      await close()
      await removeKeys(url, keyPrefix)
    },
  }
}

/** Each shipped store that keeps its rows somewhere, with null where this machine has no server of it. */
export const physicalStores: Readonly<Record<string, (() => Promise<PhysicalStore>) | null>> = {
  sqlite: openSqlite,
  postgres: openPostgres,
  mariadb: inject('mariadbUrl') === null ? null : openMariadb,
  mongo: inject('mongo') === null ? null : openMongo,
  redis: inject('redisUrl') === null ? null : openRedis,
}
