import { readFile } from 'node:fs/promises'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import type { Backend } from 'postern'
import { mongo } from 'postern/mongo'
import { postgres } from 'postern/postgres'
import { redis } from 'postern/redis'
import { createClient } from 'redis'
import { type HostConfig, startHost } from './host.js'

/** What a replica's process is told in its environment, as JSON. */
export interface ReplicaConfig extends HostConfig {
  readonly postgresUrl: string
  readonly schema: string
  /** Instead of Postgres. */
  readonly mongo: MongoPlace | null
  readonly redis: RedisPlace | null
  /** Connections at most. */
  readonly poolSize: number
  /** Commits wait for the disk: what a server that is stopped at once must not lose. */
  readonly durable: boolean
  /** A JSON file with a `KeyRing`, read anew whenever the library asks for the keys. */
  readonly keysFile: string
}

export interface MongoPlace {
  readonly url: string
  readonly database: string
}

export interface RedisPlace {
  readonly url: string
  readonly keyPrefix: string
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
  const keys = async () => JSON.parse(await readFile(config.keysFile, 'utf8'))
  const { url } = await startHost(backend, keys, config)
  const ready: ReplicaReady = { url }
  process.send?.(ready)
}

async function backendOf(config: ReplicaConfig): Promise<Backend> {
  if (config.mongo !== null) return onMongo(config.mongo)
  return config.redis === null ? onPostgres(config) : onRedis(config.redis)
}

function onPostgres(config: ReplicaConfig): Backend {
  const pool = new pg.Pool({
    connectionString: config.postgresUrl,
    application_name: replicaName(process.pid),
    max: config.poolSize,
    options: `-c synchronous_commit=${config.durable ? 'on' : 'off'}`,
  })
  // The server may be stopped under it; the next call tells.
  pool.on('error', () => {})
  return postgres(pool, { schema: config.schema })
}

function onMongo({ url, database }: MongoPlace): Backend {
  return mongo({ db: new MongoClient(url).db(database) })
}

async function onRedis({ url, keyPrefix }: RedisPlace): Promise<Backend> {
  const client = createClient({ url }).on('error', () => {})
  return redis(await client.connect(), { keyPrefix })
}

const given = process.env[configVariable]
if (given !== undefined) await main(given)
