import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from '../support/hosts/free-port.js'

/** A pooler in transaction mode before a server. */
export interface Pooler {
  readonly url: string
  stop(): Promise<void>
}

const places = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer']

/** Null where it is not installed. */
export const pgbouncer: string | null = places.find((place) => existsSync(place)) ?? null

/** Starts a pooler that gives each statement any of `connections` server connections. */
export async function startPooler(
  program: string,
  server: URL,
  connections: number,
): Promise<Pooler> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'postern-bouncer-'))
  await chmod(folder, 0o755)
  const config = join(folder, 'pgbouncer.ini')
  const user = server.username || 'postgres'
  await writeFile(join(folder, 'users.txt'), `"${user}" "${server.password}"\n`)
  await writeFile(
    config,
    `[databases]
* = host=${server.hostname} port=${server.port || 5432}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${connections}
server_round_robin = 1
ignore_startup_parameters = extra_float_digits,options
`,
  )
  // It refuses to run as root.
  const account = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {}
  const running = spawn(program, ['-q', config], { stdio: 'ignore', ...account })
  const url = `postgres://${user}@127.0.0.1:${port}${server.pathname}`
  try {
    await listening(url, () => running.exitCode !== null)
  } catch (error) {
    running.kill('SIGKILL')
    throw error
  }
  return {
    url,
    async stop() {
      running.kill('SIGKILL')
      if (running.exitCode === null && running.signalCode === null) await once(running, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function idOf(which: '-u' | '-g'): number {
  return Number(execFileSync('id', [which, 'postgres']))
}

async function listening(url: string, hasEnded: () => boolean): Promise<void> {
  for (;;) {
    const client = new Client({ connectionString: url, connectionTimeoutMillis: 3000 })
    try {
      await client.connect()
      await client.end()
      return
    } catch (error) {
      const refused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
      if (!refused || hasEnded()) throw error
    }
  }
}
