import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { freePort, isFree } from '../hosts/free-port.js'

const run = promisify(execFile)

/** A server of the caller's own, to be stopped, killed and started as a test needs. */
export interface RedisServer {
  readonly port: number
  /** The same after a restart. */
  readonly url: string
  start(): Promise<void>
  /** Lifts the limit of the size of its files. */
  makeRoom(): Promise<void>
  /** `SIGTERM` lets it write what it holds; `SIGKILL` is what a crash looks like to clients. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Stops the server if it runs and removes its files. */
  remove(): Promise<void>
}

/** A server the tests may write keys on, under prefixes of their own. */
export interface FoundRedis {
  readonly url: string
  release(): Promise<void>
}

/**
 * The first of: `REDIS_URL`, a server that listens on 127.0.0.1:6379, a server started from the
 * installed program. Null when there is none. A `REDIS_URL` that does not work rejects: who names
 * a server wants that one.
 */
export async function findRedis(
  named: string | undefined = process.env['REDIS_URL'],
): Promise<FoundRedis | null> {
  const release = async () => {}
  if (named) {
    await answers(named)
    return { url: named, release }
  }
  const url = 'redis://127.0.0.1:6379'
  if (await answers(url).catch(() => false)) return { url, release }
  if (!(await isRedisInstalled())) return null
  const server = await spawnRedis()
  return { url: server.url, release: () => server.remove() }
}

export async function isRedisInstalled(): Promise<boolean> {
  return run('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
}

/**
 * A server of one's own, started. `settings` are those of `redis.conf`. With `mostBytes` no file of it may grow larger,
 * which it meets as a full disk, until `makeRoom`.
 */
export async function spawnRedis(
  settings: Readonly<Record<string, string>> = {},
  { mostBytes }: { readonly mostBytes?: number } = {},
): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-redis-'))
  const port = await freePair()
  const url = `redis://127.0.0.1:${port}`
  const all = { port: String(port), bind: '127.0.0.1', dir: folder, save: '', ...settings }
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value])
  let child: ChildProcess | null = null
  const kill = () => child?.kill('SIGKILL')
  process.once('exit', kill)
  const server: RedisServer = {
    port,
    url,
    async start() {
      const limited = ['-c', limitFiles, 'sh', String(mostBytes), 'redis-server', ...args]
      child =
        mostBytes === undefined
          ? spawn('redis-server', args, { stdio: 'ignore' })
          : spawn('sh', limited, { stdio: 'ignore' })
      await untilListening(port, child)
    },
    async makeRoom() {
      await run('prlimit', ['--pid', String(child?.pid), '--fsize=unlimited'])
    },
    async stop(signal) {
      const stopped = child
      child = null
      if (stopped === null) return
      const gone = once(stopped, 'exit')
      stopped.kill(signal)
      await gone
    },
    async remove() {
      await server.stop('SIGKILL')
      process.off('exit', kill)
      await rm(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

/** Without the signal, a write beyond the limit fails as it does where the disk is full. */
const limitFiles = `trap '' XFSZ; most=$1; shift; exec prlimit --fsize="$most":unlimited "$@"`

/** Six nodes: three that hold the slots, and a replica of each. */
export async function spawnRedisCluster(): Promise<readonly RedisServer[]> {
  const nodes = await Promise.all(
    Array.from({ length: 6 }, () =>
      spawnRedis({ 'cluster-enabled': 'yes', 'cluster-node-timeout': '15000' }),
    ),
  )
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const options = ['--cluster-replicas', '1', '--cluster-yes']
  await run('redis-cli', ['--cluster', 'create', ...addresses, ...options])
  for (const node of nodes) await untilJoined(node, nodes.length)
  return nodes
}

async function untilJoined({ url }: RedisServer, count: number): Promise<void> {
  const client = new Redis(url)
  try {
    for (;;) {
      const info = await client.cluster('INFO')
      const list = String(await client.cluster('NODES'))
      const replicas = list.split('\n').filter((line) => line.includes('slave')).length
      const known = list.trim().split('\n').length === count && replicas === count / 2
      if (String(info).includes('cluster_state:ok') && known) return
      await wait(50)
    }
  } finally {
    client.disconnect()
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: null })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.ping()) === 'PONG'
  } finally {
    client.disconnect()
  }
}

async function untilListening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    if (await accepts(port)) return
    await wait(20)
  }
  throw new Error(`redis-server ended early, with code ${child.exitCode}`)
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** A cluster's node needs the port 10,000 above as well. */
async function freePair(): Promise<number> {
  for (;;) {
    const port = await freePort(22_000)
    if (await isFree(port + 10_000)) return port
  }
}
