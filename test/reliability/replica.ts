import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createPool } from 'mariadb'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import type { Backend } from 'postern'
import { mariadb } from 'postern/mariadb'
import { mongo } from 'postern/mongo'
import { postgres } from 'postern/postgres'
import { redis } from 'postern/redis'
import { sqlite } from 'postern/sqlite'
import { createClient } from 'redis'
import { type HostConfig, startHost } from './host.js'

/** What a replica's process is told in its environment, as JSON. */
export interface ReplicaConfig extends HostConfig {
  readonly place: Place
  /** Connections to Postgres or MariaDB at most. */
  readonly poolSize: number
  /** Postgres commits wait for the disk: what a server that is stopped at once must not lose. */
  readonly durable: boolean
  /** A JSON file with a `KeyRing`, read anew whenever the library asks for the keys. */
  readonly keysFile: string
}

/** The store of replicas that belong together, and what of it is theirs. */
export type Place = PostgresPlace | MongoPlace | RedisPlace | MariadbPlace | SqlitePlace

export interface PostgresPlace {
  readonly store: 'postgres'
  readonly url: string
  readonly schema: string
}

export interface MongoPlace {
  readonly store: 'mongo'
  readonly url: string
  readonly database: string
}

export interface RedisPlace {
  readonly store: 'redis'
  readonly url: string
  readonly keyPrefix: string
}

export interface MariadbPlace {
  readonly store: 'mariadb'
  readonly url: string
  readonly tablePrefix: string
}

export interface SqlitePlace {
  readonly store: 'sqlite'
  /** In WAL mode. */
  readonly file: string
}

export const configVariable = 'POSTERN_REPLICA'

/** What the process sends to its parent once it serves. */
export interface ReplicaReady {
  readonly url: string
}

/** What a replica's connections call themselves to the server. */
export function replicaName(pid: number): string {
  return `replica ${pid}`
}

async function main(given: string): Promise<void> {
  // Whoever started this process is gone, or has failed: nothing is left to serve.
  process.once('disconnect', () => process.exit())
  const config: ReplicaConfig = JSON.parse(given)
  const backend = await backendOf(config)
  // Read at once: in the thread pool it would wait behind the hashes, and a fast clock leaves it little time.
  const keys = async () => JSON.parse(readFileSync(config.keysFile, 'utf8'))
  const { url } = await startHost(backend, keys, config)
  const ready: ReplicaReady = { url }
  process.send?.(ready)
}

async function backendOf({ place, ...config }: ReplicaConfig): Promise<Backend> {
  switch (place.store) {
    case 'postgres':
      return onPostgres(place, config)
    case 'mongo':
      return onMongo(place)
    case 'redis':
      return onRedis(place)
    case 'mariadb':
      return onMariadb(place, config)
    case 'sqlite':
      return sqlite(new DatabaseSync(place.file))
  }
}

function onPostgres(
  { url, schema }: PostgresPlace,
  { poolSize, durable }: Pick<ReplicaConfig, 'poolSize' | 'durable'>,
): Backend {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: replicaName(process.pid),
    max: poolSize,
    options: `-c synchronous_commit=${durable ? 'on' : 'off'}`,
  })
  // The server may be stopped under it; the next call tells.
  pool.on('error', () => {})
  return postgres(pool, { schema })
}

function onMongo({ url, database }: MongoPlace): Backend {
  return mongo({ db: new MongoClient(url).db(database) })
}

async function onRedis({ url, keyPrefix }: RedisPlace): Promise<Backend> {
  const client = createClient({ url, disableOfflineQueue: true }).on('error', () => {})
  return redis(await client.connect(), { keyPrefix })
}

function onMariadb(
  { url, tablePrefix }: MariadbPlace,
  { poolSize }: Pick<ReplicaConfig, 'poolSize'>,
): Backend {
  return mariadb(createPool(`${url}?connectionLimit=${poolSize}`), { tablePrefix })
}

const given = process.env[configVariable]
if (given !== undefined) await main(given)
