import { randomBytes } from 'node:crypto'
import { inject } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { splitStore } from '../../../src/stores/split-store.js'
import type { Framework, StoreName } from '../../shelves.js'
import { frameworks } from './frameworks.js'
import { httpClient, type Send } from './http-client.js'
import { type TestAuth, type TestOptions, testAuth } from './test-auth.js'

/** A host with the library in it, on a real server, and what a test needs to look behind it. */
export interface ContractHost extends TestAuth {
  readonly send: Send
  readonly url: string
  close(): Promise<void>
}

export interface HostOptions extends TestOptions {
  /** What the host mounts; `both` by default. */
  readonly mount?: 'operator' | 'client' | 'both'
  /** Comes between the library and its database. */
  readonly wrapBackend?: (backend: Backend) => Backend
}

export interface HostKind {
  /** `express on memory`, for test titles. */
  readonly name: string
  start(options?: HostOptions): Promise<ContractHost>
}

/** Each loads its driver at its first use, so that a test of memory alone loads none. */
interface BackendKind {
  open(): Promise<{ readonly backend: Backend; close(): Promise<void> }>
}

const backends = {
  memory: { open: async () => ({ backend: memory(), close: async () => {} }) },
  postgres: { open: openPostgres },
  redis: { open: openRedis },
  'two memories': { open: async () => ({ backend: splitMemory(), close: async () => {} }) },
  mongo: { open: openMongo },
  mariadb: { open: openMariadb },
  sqlite: { open: openSqlite },
} as const satisfies Readonly<Record<StoreName, BackendKind>>

/** One kind, for what does not depend on framework or store. */
export const memoryHost: HostKind = hostKind('express', 'memory')

const identity = (backend: Backend): Backend => backend

/** A framework with a store behind it. */
export function hostKind(framework: Framework, store: StoreName): HostKind {
  return {
    name: `${framework} on ${store}`,
    async start({ mount = 'both', wrapBackend = identity, ...options } = {}) {
      const opened = await backends[store].open()
      const t = await testAuth({ backend: wrapBackend(opened.backend), ...options })
      const running = await frameworks[framework](t.auth[mount])
      return {
        ...t,
        url: running.url,
        send: httpClient(running.url),
        async close() {
          await running.close()
          await t.auth.close()
          await opened.close()
        },
      }
    },
  }
}

/** What a host may keep in Redis beside its Postgres, in a database of its own. */
function splitMemory(): Backend {
  const { store, ...rest } = memory()
  const tokens = memory().store
  const overrides = { refresh_tokens: tokens, challenges: tokens }
  return { ...rest, store: splitStore({ default: store, overrides }) }
}

async function openPostgres(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const url = inject('postgresUrl')
  const { postgres } = await import('../../../adapters/postgres/index.js')
  if (url === null) {
    const { PGlite } = await import('@electric-sql/pglite')
    const database = await PGlite.create()
    return { backend: postgres(database), close: () => database.close() }
  }
  const { default: pg } = await import('pg')
  const { optionsOf } = await import('../stores/postgres-schemas.js')
  const { spareSchemas } = await import('../stores/spare-schemas.js')
  const schema = spareSchemas.take()
  const pool = new pg.Pool({ connectionString: url, max: 10, options: optionsOf({}) })
  return {
    backend: postgres(pool, { schema }),
    async close() {
      // First all that is still on its way, which another host must not meet.
      await pool.end()
      await spareSchemas.putBack(schema)
    },
  }
}

async function openMongo(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const server = inject('mongo')
  if (server === null) throw new Error('no MongoDB')
  const { MongoClient } = await import('mongodb')
  const { mongo } = await import('../../../adapters/mongo/index.js')
  const client = new MongoClient(server.url)
  const db = client.db(`${server.databasePrefix}_${randomBytes(6).toString('hex')}`)
  return {
    backend: mongo({ db }),
    async close() {
      await db.dropDatabase()
      await client.close()
    },
  }
}

async function openRedis(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const url = inject('redisUrl') ?? ''
  const { redis } = await import('../../../adapters/redis/index.js')
  const { newPrefix, removeKeys, singleClients } = await import('../stores/redis-clients.js')
  const keyPrefix = newPrefix()
  const { client, close } = await singleClients['node-redis'](url)
  return {
    backend: redis(client, { keyPrefix }),
    async close() {
      await close()
      await removeKeys(url, keyPrefix)
    },
  }
}

async function openMariadb(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const { takeSpareTables } = await import('../stores/spare-tables.js')
  const { mariadb } = await import('../../../adapters/mariadb/index.js')
  const { pool, tablePrefix, putBack } = await takeSpareTables()
  return { backend: mariadb(pool, { tablePrefix }), close: putBack }
}

async function openSqlite(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const { DatabaseSync } = await import('node:sqlite')
  const { sqlite } = await import('../../../adapters/sqlite/index.js')
  const database = new DatabaseSync(':memory:')
  return { backend: sqlite(database), close: async () => database.close() }
}
