import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mariadb'
import { freePort } from '../hosts/free-port.js'

const run = promisify(execFile)
const isRoot = process.getuid?.() === 0

/** A server the tests may make databases on. */
export interface FoundMariadb {
  /** Without a database. */
  readonly url: string
  release(): Promise<void>
}

/**
 * The first of: `MARIADB_URL`, a server on 127.0.0.1:3306 that lets `root` in without a password, a server started from
 * the installed programs. Null when there is none. A `MARIADB_URL` that does not work rejects.
 */
export async function findMariadb(
  named: string | undefined = process.env['MARIADB_URL'],
): Promise<FoundMariadb | null> {
  const release = async () => {}
  if (named) {
    await statement(named, 'select 1')
    return { url: named, release }
  }
  const url = 'mariadb://root@127.0.0.1:3306'
  const works = await statement(url, 'select 1').then(
    () => true,
    () => false,
  )
  return works ? { url, release } : spawnMariadb()
}

/** Carries out one statement on a connection of its own. */
export async function statement(url: string, sql: string): Promise<void> {
  const { hostname, port, username, password } = new URL(url)
  const connection = await createConnection({
    host: hostname,
    port: Number(port || 3306),
    user: username,
    password: decodeURIComponent(password),
    connectTimeout: 3000,
  })
  try {
    await connection.query(sql)
  } finally {
    await connection.end()
  }
}

const program = '/usr/sbin/mariadbd'

async function spawnMariadb(): Promise<FoundMariadb | null> {
  const isInstalled = await access(program).then(
    () => true,
    () => false,
  )
  if (!isInstalled) return null
  const folder = await mkdtemp(join(tmpdir().length < 60 ? tmpdir() : '/tmp', 'postern-mariadb-'))
  const user = isRoot ? 'mysql' : undefined
  if (user !== undefined) {
    const idOf = async (which: string) => Number((await run('id', [which, user])).stdout)
    await chown(folder, await idOf('-u'), await idOf('-g'))
  }
  const asUser = user === undefined ? [] : [`--user=${user}`]
  const data = `--datadir=${join(folder, 'data')}`
  const fresh = ['--auth-root-authentication-method=normal', '--skip-test-db']
  await run('mariadb-install-db', ['--no-defaults', data, ...asUser, ...fresh])
  const port = await freePort()
  const own = [data, ...asUser, `--port=${port}`, `--socket=${join(folder, 'socket')}`]
  const quick = ['--bind-address=127.0.0.1', '--innodb-flush-log-at-trx-commit=0']
  const server = spawn(program, ['--no-defaults', ...own, ...quick], { stdio: 'ignore' })
  const ended = once(server, 'exit')
  const url = `mariadb://root@127.0.0.1:${port}`
  while (server.exitCode === null) {
    const answers = await statement(url, 'select 1').then(
      () => true,
      () => false,
    )
    if (answers) break
  }
  return {
    url,
    async release() {
      server.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
