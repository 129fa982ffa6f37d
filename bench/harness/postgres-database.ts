import { randomBytes } from 'node:crypto'
import { type FoundPostgres, onDatabase } from '../../test/support/stores/postgres.js'

/** A database of one suite's own. */
export interface BenchDatabase {
  readonly url: string
  readonly name: string
  drop(): Promise<void>
}

export interface PostgresFacts {
  readonly version: string
  readonly fsync: string
  readonly sharedBuffers: string
}

/** Commits wait for the disk as far as the server's `fsync` lets them, whatever its configuration says. */
export async function newDatabase({ url }: FoundPostgres): Promise<BenchDatabase> {
  const name = `postern_bench_${randomBytes(6).toString('hex')}`
  await onDatabase(url, async (client) => {
    await client.query(`create database ${name}`)
    await client.query(`alter database ${name} set synchronous_commit = on`)
  })
  const own = new URL(url)
  own.pathname = `/${name}`
  return {
    url: own.href,
    name,
    drop: () =>
      onDatabase(url, async (client) => {
        await client.query(`drop database if exists ${name} with (force)`)
      }),
  }
}

export async function postgresFacts({ url }: FoundPostgres): Promise<PostgresFacts> {
  return onDatabase(url, async (client) => {
    const show = async (name: string): Promise<string> => {
      const { rows } = await client.query(`show ${name}`)
      return String(rows[0]?.[name] ?? '')
    }
    return {
      version: await show('server_version'),
      fsync: await show('fsync'),
      sharedBuffers: await show('shared_buffers'),
    }
  })
}
