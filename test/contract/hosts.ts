import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { PGlite } from '@electric-sql/pglite'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import { inject } from 'vitest'
import { fetchHandler } from '../../adapters/fetch.js'
import { memory } from '../../adapters/memory.js'
import { mongo } from '../../adapters/mongo/index.js'
import { postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import type { Mountable } from '../../src/http/exchange.js'
import type { AuthOptions } from '../../src/options.js'
import type { Backend } from '../../src/ports/backend.js'
import { splitStore } from '../../src/split-store.js'
import { httpClient, type Send } from '../support/http-client.js'
import { newPrefix, removeKeys, singleClients } from '../support/redis-clients.js'
import {
  expressHost,
  listen,
  type RunningHost,
  type TestAuth,
  testAuth,
} from '../support/test-auth.js'

/** A host with the library in it, on a real server, and what a test needs to look behind it. */
export interface ContractHost extends TestAuth {
  readonly send: Send
  readonly url: string
  close(): Promise<void>
}

export interface HostOptions extends Partial<AuthOptions> {
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

const frameworks: Readonly<Record<string, (mountable: Mountable) => Promise<RunningHost>>> = {
  express: expressHost,
  fetch: fetchHost,
}

interface BackendKind {
  open(): Promise<{ readonly backend: Backend; close(): Promise<void> }>
}

const backends: Readonly<Record<string, BackendKind>> = {
  memory: { open: async () => ({ backend: memory(), close: async () => {} }) },
  postgres: { open: openPostgres },
  redis: { open: openRedis },
  'two memories': { open: async () => ({ backend: splitMemory(), close: async () => {} }) },
  mongo: { open: openMongo },
}

/**
 * Every framework on memory, and one of them on Postgres (a real server, or PGlite without one) and
 * on a split store; and one on MongoDB and Redis where there is one, as their own suites say by name.
 */
export const hostKinds: readonly HostKind[] = [
  hostKind('express', 'memory'),
  hostKind('fetch', 'memory'),
  hostKind('express', 'postgres'),
  ...(inject('redisUrl') === null ? [] : [hostKind('express', 'redis')]),
  hostKind('fetch', 'two memories'),
  ...(inject('mongo') === null ? [] : [hostKind('express', 'mongo')]),
]

/** One kind, for what does not depend on framework or store. */
export const memoryHost: HostKind = hostKind('express', 'memory')

const identity = (backend: Backend): Backend => backend

function hostKind(framework: string, store: string): HostKind {
  return {
    name: `${framework} on ${store}`,
    async start({ mount = 'both', wrapBackend = identity, ...options } = {}) {
      const opened = await backends[store]?.open()
      const listenWith = frameworks[framework]
      if (opened === undefined || listenWith === undefined) throw new Error('no such host')
      const t = await testAuth({ backend: wrapBackend(opened.backend), ...options })
      const running = await listenWith(t.auth[mount])
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
  const schema = `contract_${randomBytes(6).toString('hex')}`
  if (url === null) {
    const database = await PGlite.create()
    return { backend: postgres(database, { schema }), close: () => database.close() }
  }
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  return {
    backend: postgres(pool, { schema }),
    async close() {
      await pool.query(`drop schema if exists "${schema}" cascade`)
      await pool.end()
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

/** A fetch-style host behind Node's server, as Hono's Node adapter would do it. */
function fetchHost(mountable: Mountable): Promise<RunningHost> {
  const handle = fetchHandler(mountable)
  return listen(
    createServer((incoming, outgoing) => {
      const hasBody = incoming.method !== 'GET' && incoming.method !== 'HEAD'
      const request = new Request(`http://${incoming.headers.host}${incoming.url}`, {
        method: incoming.method ?? 'GET',
        headers: Object.entries(incoming.headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        ),
        ...(hasBody ? { body: Readable.toWeb(incoming), duplex: 'half' } : {}),
      })
      const remoteAddress = incoming.socket.remoteAddress
      handle(request, remoteAddress === undefined ? {} : { remoteAddress })
        .then(async (response) => {
          const answer = response ?? new Response('host page', { status: 404 })
          outgoing.writeHead(answer.status, [...[...answer.headers].flat()])
          outgoing.end(Buffer.from(await answer.arrayBuffer()))
        })
        .catch(() => outgoing.destroy())
    }),
  )
}
