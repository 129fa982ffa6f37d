import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import type { Cells, Shelf } from '../shelves.js'
import { findMariadb, statement } from './stores/mariadb.js'
import { dropDatabases, findMongo } from './stores/mongo.js'
import { findBinaries, findPostgres, onDatabase } from './stores/postgres.js'
import { findRedis, isRedisInstalled } from './stores/redis.js'

declare module 'vitest' {
  export interface ProvidedContext {
    shelf: Shelf
    /** What the suites of `hosts/matrix.ts` run on. */
    cells: Cells
    /** A database of this run's own, dropped at its end; null when no server was found. */
    postgresUrl: string | null
    /** Whether `spawnPostgres` can start a server. */
    postgresInstalled: boolean
    /** Null when no server was found. */
    mongo: {
      readonly url: string
      /** What it is, for test titles. */
      readonly name: string
      /** Every database whose name starts with this is dropped at the end of the run. */
      readonly databasePrefix: string
    } | null
    /** A database of this run's own, dropped at its end; null when no server was found. */
    mariadbUrl: string | null
    /** A server to use under key prefixes of one's own; null when none was found. */
    redisUrl: string | null
    /** Whether `spawnRedis` can start a server. */
    redisInstalled: boolean
  }
}

type TearDown = () => Promise<void>

/** Sorts unlike JavaScript, so that a text column without its own collation would show. */
const dictionaryOrder = "template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'"

const own = `postern_test_${randomBytes(6).toString('hex')}`

export default async function setup(project: TestProject): Promise<TearDown> {
  const tearDowns = await Promise.all([
    setUpPostgres(project),
    setUpMongo(project),
    setUpMariadb(project),
    setUpRedis(project),
  ])
  return async () => {
    for (const tearDown of tearDowns) await tearDown()
  }
}

async function setUpRedis(project: TestProject): Promise<TearDown> {
  project.provide('redisInstalled', await isRedisInstalled())
  const server = await findRedis()
  project.provide('redisUrl', server?.url ?? null)
  return server?.release ?? (async () => {})
}

async function setUpPostgres(project: TestProject): Promise<TearDown> {
  project.provide('postgresInstalled', (await findBinaries()) !== null)
  const server = await findPostgres()
  if (!server) {
    project.provide('postgresUrl', null)
    return async () => {}
  }
  await onDatabase(server.url, async (client) => {
    await client
      .query(`create database ${own} ${dictionaryOrder}`)
      // Without ICU the server's own order has to do.
      .catch(() => client.query(`create database ${own}`))
  })
  const url = new URL(server.url)
  url.pathname = `/${own}`
  project.provide('postgresUrl', url.href)
  return async () => {
    await onDatabase(server.url, (client) => client.query(`drop database ${own} with (force)`))
    await server.release()
  }
}

async function setUpMongo(project: TestProject): Promise<TearDown> {
  const server = await findMongo()
  if (!server) {
    project.provide('mongo', null)
    return async () => {}
  }
  project.provide('mongo', { url: server.url, name: server.name, databasePrefix: own })
  return async () => {
    if (server.isShared) await dropDatabases(server.url, own)
    await server.release()
  }
}

async function setUpMariadb(project: TestProject): Promise<TearDown> {
  const server = await findMariadb()
  project.provide('mariadbUrl', server && `${server.url}/${own}`)
  if (!server) return async () => {}
  await statement(server.url, `create database ${own}`)
  return async () => {
    await statement(server.url, `drop database ${own}`)
    await server.release()
  }
}
