import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MongoClient } from 'mongodb'
import { freePort } from '../hosts/free-port.js'
import { buildStandIn } from './mongo-stand-in.js'

const run = promisify(execFile)

/** A server of the caller's own, to be killed and started as a test needs. */
export interface MongoServer {
  readonly url: string
  readonly name: string
  /** On the same port; what a stand-in held is gone then. */
  start(): Promise<void>
  /** What a crash looks like to clients. */
  kill(): Promise<void>
  /** Stops the server if it runs and removes its files. */
  remove(): Promise<void>
}

/** A server the tests may make databases on. */
interface FoundMongo {
  readonly url: string
  /** `MONGO_URL`, `mongod`, or what stands in for it. */
  readonly name: string
  /** It outlives the run, so what the run made has to be dropped. */
  readonly isShared: boolean
  release(): Promise<void>
}

/**
 * The first of: `MONGO_URL`, a `mongod` on the PATH, a stand-in on Java. Null when there is none.
 * A `MONGO_URL` that does not work rejects: who names a server wants that one.
 */
export async function findMongo(
  named: string | undefined = process.env['MONGO_URL'],
): Promise<FoundMongo | null> {
  if (named) {
    await answers(named, 5000)
    return { url: named, name: 'MONGO_URL', isShared: true, release: async () => {} }
  }
  const server = await spawnMongo()
  return server && { ...server, isShared: false, release: () => server.remove() }
}

/** A server of one's own on a free port, started; null where no program for it can be had. */
export async function spawnMongo(): Promise<MongoServer | null> {
  const program = (await mongodProgram()) ?? (await standInProgram())
  if (program === null) return null
  const folder = await mkdtemp(join(tmpdir(), 'postern-mongo-'))
  const port = await freePort()
  const url = `mongodb://127.0.0.1:${port}/?directConnection=true`
  let running: ChildProcess | null = null
  const server: MongoServer = {
    url,
    name: program.name,
    async start() {
      const [command, ...args] = program.command(port, folder)
      // A stand-in stops when this pipe ends, so also when this process is killed.
      running = spawn(command, args, { stdio: ['pipe', 'ignore', 'ignore'] })
      await answers(url, 60_000)
    },
    async kill() {
      const child = running
      running = null
      if (child === null || child.exitCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
    async remove() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}

interface Program {
  readonly name: string
  command(port: number, folder: string): readonly [string, ...string[]]
}

async function mongodProgram(): Promise<Program | null> {
  const works = await run('mongod', ['--version']).catch(() => null)
  if (works === null) return null
  const local = ['--bind_ip', '127.0.0.1', '--nounixsocket']
  return {
    name: 'mongod',
    command: (port, folder) => ['mongod', '--dbpath', folder, '--port', String(port), ...local],
  }
}

async function standInProgram(): Promise<Program | null> {
  const classpath = await buildStandIn()
  if (classpath === null) return null
  const light = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  return {
    name: 'mongo-java-server',
    command: (port) => ['java', ...light, '-cp', classpath, 'StandIn', String(port)],
  }
}

/** Resolves once the server answers. */
async function answers(url: string, withinMs: number): Promise<void> {
  await onMongo(url, (client) => client.db('admin').command({ ping: 1 }), withinMs)
}

export async function dropDatabases(url: string, prefix: string): Promise<void> {
  await onMongo(url, async (client) => {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true })
    for (const { name } of databases) {
      if (name.startsWith(prefix)) await client.db(name).dropDatabase()
    }
  })
}

/** Runs with a connection that is closed afterwards, whatever happens. */
async function onMongo<R>(
  url: string,
  use: (client: MongoClient) => Promise<R>,
  serverSelectionTimeoutMS = 5000,
): Promise<R> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS, heartbeatFrequencyMS: 500 })
  try {
    return await use(client)
  } finally {
    await client.close()
  }
}
