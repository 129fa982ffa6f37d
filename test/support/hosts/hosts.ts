import { randomBytes } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { PGlite } from '@electric-sql/pglite'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import { inject } from 'vitest'
import { mariadb } from '../../../adapters/mariadb/index.js'
import { memory } from '../../../adapters/memory/index.js'
import { mongo } from '../../../adapters/mongo/index.js'
import { postgres } from '../../../adapters/postgres/index.js'
import { redis } from '../../../adapters/redis/index.js'
import { sqlite } from '../../../adapters/sqlite/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { splitStore } from '../../../src/stores/split-store.js'
import { optionsOf } from '../stores/postgres-schemas.js'
import { newPrefix, removeKeys, singleClients } from '../stores/redis-clients.js'
import { spareSchemas } from '../stores/spare-schemas.js'
import { takeSpareTables } from '../stores/spare-tables.js'
import { type Framework, frameworks } from './frameworks.js'
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
} as const satisfies Readonly<Record<string, BackendKind>>

type StoreName = keyof typeof backends

const isThere: Readonly<Record<StoreName, boolean>> = {
  memory: true,
  'two memories': true,
  postgres: true,
  sqlite: true,
  redis: inject('redisUrl') !== null,
  mongo: inject('mongo') !== null,
  mariadb: inject('mariadbUrl') !== null,
}

/**
 * The kinds whose store is there. The own suites of MongoDB, Redis and MariaDB say by name when one is not. With
 * `CONTRACT=memory` the first alone, for the planted mistakes.
 */
function available(kinds: readonly (readonly [Framework, StoreName])[]): readonly HostKind[] {
  return (process.env['CONTRACT'] === 'memory' ? kinds.slice(0, 1) : kinds)
    .filter(([, store]) => isThere[store])
    .map(([framework, store]) => hostKind(framework, store))
}

/**
 * For what goes through the whole library: every framework and almost every store once, in pairs. MariaDB and SQLite
 * are met in `storeKinds`, and by every operation in `every-operation.test.ts`. An
 * adapter of a framework hands the library a request and gets a reply, a store documents, so neither
 * can meet the other, and all pairs would show no more than these at four times the price. The
 * variable `CONTRACT=full` plays the product all the same.
 */
export const hostKinds: readonly HostKind[] =
  process.env['CONTRACT'] === 'full'
    ? available(
        (['express', 'fastify', 'koa', 'fetch'] as const).flatMap((framework) =>
          (['memory', 'postgres', 'redis', 'mongo', 'mariadb', 'sqlite'] as const).map(
            (store) => [framework, store] as const,
          ),
        ),
      )
    : available([
        ['express', 'memory'],
        ['fastify', 'postgres'],
        ['koa', isThere.redis ? 'redis' : 'memory'],
        ['fetch', isThere.mongo ? 'mongo' : 'memory'],
        ['express 4', 'two memories'],
      ])

/** For what a framework could do to a request or a reply: paths, bodies, headers, cookies. */
export const frameworkKinds: readonly HostKind[] = available([
  ['express', 'memory'],
  ['express 4', 'memory'],
  ['fastify', 'memory'],
  ['koa', 'memory'],
  ['koa 2', 'memory'],
  ['fetch', 'memory'],
])

/** For what only a store could do: order, races, losses. */
export const storeKinds: readonly HostKind[] = available([
  ['express', 'memory'],
  ['express', 'postgres'],
  ['express', 'redis'],
  ['express', 'mongo'],
  ['express', 'mariadb'],
  ['express', 'sqlite'],
])

/**
 * For what depends on what every store promises, and on nothing else of it: the conformance suite
 * holds each store to the promise, and these see that the library asks for no more. All of them
 * with `CONTRACT=full`.
 */
export const promiseKinds: readonly HostKind[] =
  process.env['CONTRACT'] === 'full' ? storeKinds : storeKinds.slice(0, 2)

/** One kind, for what does not depend on framework or store. */
export const memoryHost: HostKind = hostKind('express', 'memory')

const identity = (backend: Backend): Backend => backend

function hostKind(framework: Framework, store: StoreName): HostKind {
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
  const overrides = { refresh_tokens: tokens, tickets: tokens }
  return { ...rest, store: splitStore({ default: store, overrides }) }
}

async function openPostgres(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const url = inject('postgresUrl')
  if (url === null) {
    const database = await PGlite.create()
    return { backend: postgres(database), close: () => database.close() }
  }
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
  const { pool, tablePrefix, putBack } = await takeSpareTables()
  return { backend: mariadb(pool, { tablePrefix }), close: putBack }
}

async function openSqlite(): Promise<{ backend: Backend; close(): Promise<void> }> {
  const database = new DatabaseSync(':memory:')
  return { backend: sqlite(database), close: async () => database.close() }
}
