import { generateKeyPairSync } from 'node:crypto'
import { startChild } from './child.js'
import type { CommandLine } from './command-line.js'
import type { Context, SigningKey } from './context.js'
import type { FoundServers } from './found-servers.js'
import { newDatabase } from './postgres-database.js'
import { newPrefix } from './redis-prefix.js'

export interface OpenContext {
  readonly context: Context
  /** Stops and removes what was opened, the last first. What cannot be removed is only named. */
  close(): Promise<void>
}

/** RSA-2048, as Postern generates them. */
export function newSigningKey(): SigningKey {
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return { privatePem: pair.privateKey, publicPem: pair.publicKey }
}

export function openContext(
  { rounds, smoke, node }: CommandLine,
  servers: FoundServers,
  key: SigningKey,
  progress: (text: string) => void,
): OpenContext {
  const undoing: (() => Promise<void>)[] = []
  let isClosed = false
  /** What was still being opened while the suite was closed is undone at once. */
  const opened = async <T>(thing: T, undo: () => Promise<void>): Promise<T> => {
    if (!isClosed) {
      undoing.push(undo)
      return thing
    }
    await undo()
    throw new Error('the suite was ended')
  }
  const context: Context = {
    rounds,
    smoke,
    node,
    key,
    progress,
    requests: (full) => (smoke ? Math.min(full, 20) : full),
    async database() {
      if (servers.postgres === null) return null
      const database = await newDatabase(servers.postgres)
      return opened(database, () => database.drop())
    },
    async redis() {
      if (servers.redis === null) return null
      const keys = newPrefix(servers.redis)
      return opened(keys, () => keys.remove())
    },
    async start<R>(...[file, given, options]: Parameters<Context['start']>) {
      const child = await startChild<R>(node, file, given, options)
      return opened(child, () => child.stop())
    },
    atEnd: (undo) => {
      undoing.push(undo)
    },
  }
  return {
    context,
    async close() {
      isClosed = true
      for (const undo of undoing.splice(0).reverse()) {
        await undo().catch((error: unknown) => progress(`not removed: ${String(error)}`))
      }
    },
  }
}
