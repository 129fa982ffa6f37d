import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { KeyRing } from 'postern'
import { afterAll, inject } from 'vitest'
import { type BuiltPackage, buildPackage } from '../support/package/build-package.js'
import { onDatabase } from '../support/stores/postgres.js'
import { newPrefix, removeKeys } from '../support/stores/redis-clients.js'
import { type Host, hostAt } from './host-client.js'
import { lineFrom } from './moving-clock.js'
import {
  configVariable,
  type Place,
  type RedisPlace,
  type ReplicaConfig,
  type ReplicaReady,
} from './replica.js'

/** A host with the library in it, in a process of its own. */
export interface Replica extends Host {
  readonly pid: number
  /** `SIGSTOP`, `SIGCONT`, `SIGKILL`, … Does not wait. */
  signal(name: NodeJS.Signals): void
  /** Kills the process and resolves when it is gone. Every replica is stopped when its file ends. */
  stop(): Promise<void>
}

export interface ReplicaOptions extends ReplicaSettings {
  readonly place: Place
  /** The process gets the heap of a small container; else as much as V8 likes. */
  readonly smallHeap?: true
}

/** All else. */
export type ReplicaSettings = Partial<Omit<ReplicaConfig, 'place'>>

/** Children and the ends of their processes. */
const running = new Map<ChildProcess, Promise<unknown>>()
/** Schemas to drop, and where. */
const schemas = new Map<string, string>()
const redisPlaces: RedisPlace[] = []
const configKey = randomBytes(32).toString('base64')
let built: Promise<BuiltPackage> | null = null
let folder: string | null = null
let ringFile: string | null = null

// A stopped process (SIGSTOP) does not see its parent go; a killed one needs to see nothing.
process.once('exit', killAll)

afterAll(async () => {
  killAll()
  await Promise.all(running.values())
  for (const [schema, url] of schemas) {
    await onDatabase(url, (client) => client.query(`drop schema if exists ${schema} cascade`))
  }
  for (const { url, keyPrefix } of redisPlaces) await removeKeys(url, keyPrefix)
  await built?.then((it) => it.remove())
  if (folder !== null) rmSync(folder, { recursive: true, force: true })
})

function killAll(): void {
  for (const child of running.keys()) child.kill('SIGKILL')
}

/**
 * Starts a replica and waits until it serves. Without options: system time, one key
 * ring for all replicas of the test file, five connections, hashing at test cost, no rate limits.
 */
export async function startReplica({ smallHeap, ...options }: ReplicaOptions): Promise<Replica> {
  const heap = smallHeap ? ['--max-old-space-size=96', '--max-semi-space-size=8'] : []
  built ??= buildPackage({ replica: 'test/reliability/replica.ts' })
  const program = (await built).file('replica')
  ringFile ??= writeRing('ring.json', { current: newKey() })
  const config: ReplicaConfig = {
    clock: lineFrom(Date.now()),
    options: {},
    planted: null,
    poolSize: 5,
    durable: false,
    keysFile: ringFile,
    configKey,
    ...options,
  }
  const child = spawn(process.execPath, [...heap, '--enable-source-maps', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { PATH: process.env['PATH'], [configVariable]: JSON.stringify(config) },
  })
  const ended = once(child, 'exit').then(() => running.delete(child))
  running.set(child, ended)
  const { url } = await readyOf(child)
  const host = hostAt(url)
  return {
    ...host,
    pid: child.pid ?? 0,
    signal: (name) => child.kill(name),
    async stop() {
      host.hangUp()
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Any number of alike replicas, their clocks agreeing. */
export async function startReplicas(
  count: number,
  place: Place,
  options: ReplicaSettings = {},
): Promise<readonly Replica[]> {
  const clock = options.clock ?? lineFrom(Date.now())
  return Promise.all(
    Array.from({ length: count }, () => startReplica({ ...options, place, clock })),
  )
}

/** A place nobody uses yet, which goes with the file or with the run. */
export function newPlace(store: Place['store']): Place {
  switch (store) {
    case 'postgres': {
      const url = inject('postgresUrl') ?? ''
      return { store, url, schema: newSchema(url) }
    }
    case 'redis': {
      const place = { store, url: inject('redisUrl') ?? '', keyPrefix: newPrefix() }
      redisPlaces.push(place)
      return place
    }
    case 'mongo': {
      const { url, databasePrefix } = inject('mongo') ?? { url: '', databasePrefix: '' }
      return { store, url, database: `${databasePrefix}_${randomBytes(6).toString('hex')}` }
    }
    case 'mariadb': {
      const tablePrefix = `r${randomBytes(6).toString('hex')}_`
      return { store, url: inject('mariadbUrl') ?? '', tablePrefix }
    }
    case 'sqlite':
      return { store, file: newFile() }
  }
}

/** A database in WAL mode: processes that switch to it at one moment would lock each other out. */
function newFile(): string {
  const file = join(ownFolder(), `${randomBytes(6).toString('hex')}.db`)
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal')
  database.close()
  return file
}

function ownFolder(): string {
  folder ??= mkdtempSync(join(tmpdir(), 'postern-reliability-'))
  return folder
}

/** The name of a schema that is dropped when the file ends. */
export function newSchema(postgresUrl: string): string {
  const name = `reliability_${randomBytes(6).toString('hex')}`
  schemas.set(name, postgresUrl)
  return name
}

/** RSA-2048, the least the library takes: signing costs a third of the recommended size. */
export function newKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
}

/** Writes a ring where replicas read it, all at once; gives the file's path. */
export function writeRing(name: string, ring: KeyRing): string {
  const path = join(ownFolder(), name)
  writeFileSync(`${path}.new`, JSON.stringify(ring))
  renameSync(`${path}.new`, path)
  return path
}

function readyOf(child: ChildProcess): Promise<ReplicaReady> {
  return new Promise((resolve, reject) => {
    child.once('message', (ready) => resolve(ready as ReplicaReady))
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the replica ended early, with code ${code}`)))
  })
}
