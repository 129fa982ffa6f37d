import pg from 'pg'
import type { Backend } from 'postern'
import { inject } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { redis } from '../../adapters/redis/index.js'
import { spawnPostgres } from '../support/stores/postgres.js'
import { spawnRedis } from '../support/stores/redis.js'
import { singleClients } from '../support/stores/redis-clients.js'
import type { Place } from './replica.js'

/** A store on a server of the test's own, which keeps what it has answered for. */
export interface OwnStore {
  readonly place: Place
  /** At once, without a word to anybody. */
  kill(): Promise<void>
  start(): Promise<void>
  /** To look at what it holds. */
  open(): Promise<{ readonly backend: Backend; close(): Promise<void> }>
  remove(): Promise<void>
}

/** `missing` says, for a test's title, what is not there to start one. */
export const ownStores: readonly {
  readonly name: string
  readonly missing: string | null
  spawn(): Promise<OwnStore>
}[] = [
  {
    name: 'Postgres',
    missing: inject('postgresInstalled') ? null : ' (no binaries of Postgres found)',
    spawn: spawnOwnPostgres,
  },
  {
    name: 'Redis',
    missing: inject('redisInstalled') ? null : ' (no redis-server found)',
    spawn: spawnOwnRedis,
  },
]

async function spawnOwnPostgres(): Promise<OwnStore> {
  const server = await spawnPostgres()
  if (server === null) throw new Error('no binaries')
  const { url } = server
  const schema = 'own'
  return {
    place: { store: 'postgres', url, schema },
    kill: () => server.stop('immediate'),
    start: () => server.start(),
    async open() {
      const pool = new pg.Pool({ connectionString: url, max: 2 })
      return { backend: postgres(pool, { schema }), close: () => pool.end() }
    },
    remove: () => server.remove(),
  }
}

async function spawnOwnRedis(): Promise<OwnStore> {
  const server = await spawnRedis({ appendonly: 'yes', appendfsync: 'always' })
  const { url } = server
  const keyPrefix = 'own:'
  return {
    place: { store: 'redis', url, keyPrefix },
    kill: () => server.stop('SIGKILL'),
    start: () => server.start(),
    async open() {
      const { client, close } = await singleClients['node-redis'](url)
      return { backend: redis(client, { keyPrefix }), close }
    },
    remove: () => server.remove(),
  }
}
