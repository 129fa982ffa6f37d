import { execFile } from 'node:child_process'
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { freePort } from '../hosts/free-port.js'

const run = promisify(execFile)
const installed = '/usr/lib/postgresql'
const isRoot = process.getuid?.() === 0

/** A server of the caller's own, to be stopped, killed and started as a test needs. */
export interface PostgresServer {
  /** Connects to the database `postgres` as a superuser; the same after a restart. */
  readonly url: string
  start(): Promise<void>
  /** `fast` ends sessions in order; `immediate` is what a crash looks like to clients. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Stops the server if it runs and removes its files. */
  remove(): Promise<void>
}

export interface SpawnOptions {
  /** Whether a commit waits for the disk. Tests need no such thing, so it is off by default. */
  readonly durable?: boolean
}

/** A server the tests may make databases on. */
export interface FoundPostgres {
  readonly url: string
  release(): Promise<void>
}

/**
 * The first of: `POSTGRES_URL`, a server that listens on 127.0.0.1:5432 and trusts us, a server
 * started from the installed binaries. Null when there is none. A `POSTGRES_URL` that does not
 * work rejects: who names a server wants that one.
 */
export async function findPostgres(
  named: string | undefined = process.env['POSTGRES_URL'],
  options: SpawnOptions = {},
): Promise<FoundPostgres | null> {
  const release = async () => {}
  if (named) {
    await mayCreateDatabases(named)
    return { url: named, release }
  }
  for (const user of ['postgres', 'root']) {
    const url = `postgres://${user}@127.0.0.1:5432/postgres`
    const works = await mayCreateDatabases(url).catch(() => false)
    if (works) return { url, release }
  }
  const server = await spawnPostgres(options)
  return server && { url: server.url, release: () => server.remove() }
}

/** The folder of the newest installed server's programs. */
export async function findBinaries(): Promise<string | null> {
  const versions = await readdir(installed).catch(() => [])
  const newest = versions.map(Number).sort((a, b) => b - a)[0]
  return newest === undefined ? null : join(installed, String(newest), 'bin')
}

/** A server of one's own on a free port, started; null where no binaries are installed. */
export async function spawnPostgres(options: SpawnOptions = {}): Promise<PostgresServer | null> {
  const bin = await findBinaries()
  if (bin === null) return null
  const folder = await newFolder()
  const data = join(folder, 'data')
  const initdb = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-EUTF8']
  await asServer(`${bin}/initdb`, initdb)
  return started(bin, folder, options)
}

/** A streaming replica of a primary, which follows it until it is promoted. */
export interface PostgresStandby extends PostgresServer {
  /** It takes writes when this resolves. */
  promote(): Promise<void>
}

/** A standby of a server that `spawnPostgres` started. */
export async function spawnStandby(primaryUrl: string): Promise<PostgresStandby> {
  const bin = await findBinaries()
  if (bin === null) throw new Error('no binaries of Postgres')
  const folder = await newFolder()
  const data = join(folder, 'data')
  // `-R` writes down where the primary is.
  await asServer(`${bin}/pg_basebackup`, ['-d', primaryUrl, '-D', data, '-R', '-X', 'stream'])
  const server = await started(bin, folder, {})
  return {
    ...server,
    promote: () => asServer(`${bin}/pg_ctl`, ['-D', data, '-w', 'promote']),
  }
}

/** The server's folder. */
async function newFolder(): Promise<string> {
  // A socket's path may be no longer than 107 bytes, so not below a possibly deep TMPDIR.
  const folder = await mkdtemp(join(tmpdir().length < 60 ? tmpdir() : '/tmp', 'postern-pg-'))
  // The server refuses to run as root, and mkdtemp's folder is open to its maker alone.
  if (isRoot) await chown(folder, await idOf('-u'), await idOf('-g'))
  return folder
}

async function started(
  bin: string,
  folder: string,
  options: SpawnOptions,
): Promise<PostgresServer> {
  const port = await freePort()
  const settings = [
    `-p ${port}`,
    `-k ${folder}`,
    '-c listen_addresses=127.0.0.1',
    '-c max_connections=200',
    `-c fsync=${options.durable === true ? 'on' : 'off'}`,
  ].join(' ')
  const data = join(folder, 'data')
  const control = (...args: string[]) => asServer(`${bin}/pg_ctl`, ['-D', data, '-w', ...args])
  let running = false
  const server: PostgresServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async start() {
      await control('-l', join(folder, 'log'), '-o', settings, 'start')
      running = true
    },
    async stop(mode) {
      running = false
      await control('-m', mode, 'stop')
    },
    async remove() {
      if (running) await server.stop('immediate')
      await rm(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

async function mayCreateDatabases(url: string): Promise<boolean> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query(
      'select rolcreatedb or rolsuper as may from pg_roles where rolname = current_user',
    )
    if (rows[0]?.may !== true) throw new Error(`${new URL(url).host}: this user makes no databases`)
    return true
  })
}

/** Runs with a connection that is closed afterwards, whatever happens. */
export async function onDatabase<R>(url: string, use: (client: Client) => Promise<R>): Promise<R> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 3000 })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

async function asServer(command: string, args: readonly string[]): Promise<void> {
  if (isRoot) await run('runuser', ['-u', 'postgres', '--', command, ...args], { cwd: '/' })
  else await run(command, [...args])
}

async function idOf(which: '-u' | '-g'): Promise<number> {
  return Number((await run('id', [which, 'postgres'])).stdout)
}
