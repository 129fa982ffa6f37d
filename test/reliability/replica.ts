import { readFile } from 'node:fs/promises'
import pg from 'pg'
import { postgres } from 'postern/postgres'
import { type HostConfig, startHost } from './host.js'

/** What a replica's process is told in its environment, as JSON. */
export interface ReplicaConfig extends HostConfig {
  readonly postgresUrl: string
  readonly schema: string
  /** Connections at most. */
  readonly poolSize: number
  /** Commits wait for the disk: what a server that is stopped at once must not lose. */
  readonly durable: boolean
  /** A JSON file with a `KeyRing`, read anew whenever the library asks for the keys. */
  readonly keysFile: string
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
  const pool = new pg.Pool({
    connectionString: config.postgresUrl,
    application_name: replicaName(process.pid),
    max: config.poolSize,
    options: `-c synchronous_commit=${config.durable ? 'on' : 'off'}`,
  })
  // The server may be stopped under it; the next call tells.
  pool.on('error', () => {})
  const backend = postgres(pool, { schema: config.schema })
  const keys = async () => JSON.parse(await readFile(config.keysFile, 'utf8'))
  const { url } = await startHost(backend, keys, config)
  const ready: ReplicaReady = { url }
  process.send?.(ready)
}

const given = process.env[configVariable]
if (given !== undefined) await main(given)
