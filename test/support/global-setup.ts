import { randomBytes } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { findBinaries, findPostgres, onDatabase } from './postgres.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** A database of this run's own, dropped at its end; null when no server was found. */
    postgresUrl: string | null
    /** Whether `spawnPostgres` can start a server. */
    postgresInstalled: boolean
  }
}

/** Sorts unlike JavaScript, so that a text column without its own collation would show. */
const dictionaryOrder = "template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US'"

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  project.provide('postgresInstalled', (await findBinaries()) !== null)
  const server = await findPostgres()
  if (!server) {
    project.provide('postgresUrl', null)
    return
  }
  const name = `postern_test_${randomBytes(6).toString('hex')}`
  await onDatabase(server.url, async (client) => {
    await client
      .query(`create database ${name} ${dictionaryOrder}`)
      // Without ICU the server's own order has to do.
      .catch(() => client.query(`create database ${name}`))
  })
  const url = new URL(server.url)
  url.pathname = `/${name}`
  project.provide('postgresUrl', url.href)
  return async () => {
    await onDatabase(server.url, (client) => client.query(`drop database ${name} with (force)`))
    await server.release()
  }
}
