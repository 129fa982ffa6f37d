import { randomBytes } from 'node:crypto'
import { type Db, MongoClient, type MongoClientOptions } from 'mongodb'
import { afterAll, afterEach, inject } from 'vitest'
import { mongo } from '../../../adapters/mongo/index.js'
import type { CollectionSpec, Doc } from '../../../src/ports/store.js'
import type { LooseCollection } from '../../../src/testing/shared/sample.js'
import { looseSpec } from './postgres-migrations.js'

/** `mongo on mongod`, or the reason for which the tests of this title are skipped. */
export function mongoTitle(title: string): string {
  const server = inject('mongo')
  return server ? `${title} on ${server.name}` : `${title} (MongoDB not found)`
}

/**
 * A client for the tests of one `describe`, and a fresh database whenever one is asked for. The
 * databases are dropped after each test.
 */
export function mongoDatabases(options: MongoClientOptions = {}) {
  const server = inject('mongo')
  const client = new MongoClient(server?.url ?? 'mongodb://127.0.0.1:1', options)
  let made: Db[] = []
  afterEach(async () => {
    const databases = made
    made = []
    for (const database of databases) await database.dropDatabase()
  })
  afterAll(() => client.close())
  return {
    client,
    database(): Db {
      const db = client.db(`${server?.databasePrefix}_${randomBytes(6).toString('hex')}`)
      made.push(db)
      return db
    },
  }
}

type LooseSpec = Parameters<typeof looseSpec>

/** Prepares collections `users` as `looseSpec` describes them. */
export function prepare(db: Db, ...specs: readonly LooseSpec[]): Promise<void> {
  return mongo({ db }).store.prepare(specs.map((one) => looseSpec(...one)))
}

/** The collection itself, without having prepared it. */
export function looseUsers(db: Db, ...spec: LooseSpec): LooseCollection {
  // A loose description has no document type; the calls that take objects need none.
  return mongo({ db }).store.collection(looseSpec(...spec) as CollectionSpec<Doc>)
}
