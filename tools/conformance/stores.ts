import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { PGlite } from '@electric-sql/pglite'
import { createPool } from 'mariadb'
import { MongoClient } from 'mongodb'
import { Pool } from 'pg'
import { mariadb } from '../../adapters/mariadb/index.js'
import { memory } from '../../adapters/memory/index.js'
import { mongo } from '../../adapters/mongo/index.js'
import { type PostgresClient, postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import { sqlite } from '../../adapters/sqlite/index.js'
import type { ConformanceOptions } from '../../src/testing/index.js'
import { findMariadb, statement } from '../../test/support/stores/mariadb.js'
import { findMongo } from '../../test/support/stores/mongo.js'
import { findPostgres, onDatabase } from '../../test/support/stores/postgres.js'
import { findRedis, isRedisInstalled, spawnRedisCluster } from '../../test/support/stores/redis.js'
import {
  clusterClients,
  newPrefix,
  type OpenClient,
  removeKeys,
  singleClients,
} from '../../test/support/stores/redis-clients.js'

/** A store that the kit is to be played on. */
export interface TestedStore {
  readonly name: string
  /** Null where its server is missing; nothing is left behind then. */
  start(): Promise<StartedStore | null>
}

export interface StartedStore extends Pick<ConformanceOptions, 'open' | 'skip'> {
  stop(): Promise<void>
}

/** A schema a case; `client` outlives all of them. */
function inSchemas(client: PostgresClient): ConformanceOptions['open'] {
  return ({ through }) => {
    const schema = `case_${randomBytes(6).toString('hex')}`
    return {
      backend: postgres(through(client), { schema }),
      close: async () => void (await client.query(`drop schema if exists ${schema} cascade`)),
    }
  }
}

async function startPglite(): Promise<StartedStore> {
  const database = new PGlite()
  await database.waitReady
  return { open: inSchemas(database), stop: () => database.close() }
}

async function startPostgres(): Promise<StartedStore | null> {
  const server = await findPostgres()
  if (!server) return null
  const name = `conformance_${randomBytes(6).toString('hex')}`
  const url = new URL(server.url)
  url.pathname = name
  await onDatabase(server.url, (client) => client.query(`create database ${name}`))
  const pool = new Pool({ connectionString: url.href, max: 10 })
  return {
    open: inSchemas(pool),
    async stop() {
      await pool.end()
      await onDatabase(server.url, (client) => client.query(`drop database ${name} with (force)`))
      await server.release()
    },
  }
}

async function startMariadb(): Promise<StartedStore | null> {
  const server = await findMariadb()
  if (!server) return null
  const name = `conformance_${randomBytes(6).toString('hex')}`
  await statement(server.url, `create database ${name}`)
  const pool = createPool(`${server.url}/${name}`)
  return {
    open: ({ through }) => ({ backend: mariadb(through(pool)) }),
    async stop() {
      await pool.end()
      await statement(server.url, `drop database ${name}`)
      await server.release()
    },
  }
}

/** A database a case. */
async function startMongo(): Promise<StartedStore | null> {
  const server = await findMongo()
  if (!server) return null
  const client = new MongoClient(server.url)
  return {
    open: ({ through }) => {
      const db = client.db(`conformance_${randomBytes(6).toString('hex')}`)
      return {
        backend: mongo({ db: through(db) }),
        close: async () => void (await db.dropDatabase()),
      }
    },
    async stop() {
      await client.close()
      await server.release()
    },
  }
}

/** Prefixes of one run, whose keys are removed from every node at its end. */
function onRedis(
  { client, close }: OpenClient,
  urls: readonly string[],
  release: () => Promise<unknown>,
): StartedStore {
  const runPrefix = newPrefix()
  return {
    open: ({ through }) => {
      const keyPrefix = `${runPrefix}${randomBytes(6).toString('hex')}:`
      return { backend: redis(through(client), { keyPrefix }) }
    },
    async stop() {
      await close()
      for (const url of urls) await removeKeys(url, runPrefix)
      await release()
    },
  }
}

async function startRedis(): Promise<StartedStore | null> {
  const server = await findRedis()
  if (!server) return null
  return onRedis(await singleClients['node-redis'](server.url), [server.url], server.release)
}

async function startRedisCluster(): Promise<StartedStore | null> {
  if (!(await isRedisInstalled())) return null
  const nodes = await spawnRedisCluster()
  const client = await clusterClients['node-redis cluster'](nodes.map(({ port }) => port))
  return onRedis(client, [], () => Promise.all(nodes.map((node) => node.remove())))
}

/** One line a store. */
export const stores: readonly TestedStore[] = [
  {
    name: 'memory',
    start: async () => ({
      open: ({ through }) => ({ backend: through(memory()) }),
      stop: async () => {},
    }),
  },
  { name: 'postgres', start: startPostgres },
  { name: 'pglite', start: startPglite },
  {
    name: 'sqlite',
    start: async () => ({
      open({ through }) {
        const database = new DatabaseSync(':memory:')
        return { backend: sqlite(through(database)), close: () => database.close() }
      },
      stop: async () => {},
    }),
  },
  { name: 'mariadb', start: startMariadb },
  { name: 'mongo', start: startMongo },
  { name: 'redis', start: startRedis },
  { name: 'redis-cluster', start: startRedisCluster },
]
