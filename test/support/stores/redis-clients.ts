import { randomBytes } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { ClientOfflineError, createClient, createCluster } from 'redis'
import type { RedisClient } from '../../../adapters/redis/client.js'

/** An open client and how to be rid of it. */
export interface OpenClient {
  readonly client: RedisClient
  close(): Promise<void>
}

/** Connections that break are what some tests do; the next call tells. */
const ignore = (): void => {}

/** The options that the backend asks of an `ioredis` client. */
export const sendOnce = {
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
} as const

/** Both libraries on one server. */
export const singleClients = {
  'node-redis': async (url: string): Promise<OpenClient> => {
    const client = createClient({ url, disableOfflineQueue: true }).on('error', ignore)
    await client.connect()
    return { client, close: async () => client.destroy() }
  },
  ioredis: async (url: string): Promise<OpenClient> => {
    const client = new Redis(url, { ...sendOnce, lazyConnect: true }).on('error', ignore)
    await client.connect()
    return { client, close: async () => client.disconnect() }
  },
} satisfies Readonly<Record<string, (url: string) => Promise<OpenClient>>>

/** Where a client is to connect to instead of each node's own port. */
export type PortMap = ReadonlyMap<number, number>

/** Who connects; the default user if nobody is named. */
export interface RedisLogin {
  readonly username?: string
  readonly password?: string
}

/** Both libraries on a cluster. */
export const clusterClients = {
  'node-redis cluster': async (
    ports: readonly number[],
    map: PortMap = new Map(),
    login: RedisLogin = {},
  ) => {
    const cluster = createCluster({
      rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${map.get(port) ?? port}` })),
      defaults: { ...login, disableOfflineQueue: true },
      // Reads must go to the primaries all the same.
      useReplicas: true,
      nodeAddressMap: (address) => {
        const port = Number(address.split(':').at(-1))
        return { host: '127.0.0.1', port: map.get(port) ?? port }
      },
    }).on('error', ignore)
    await cluster.connect()
    return { client: cluster, close: async () => cluster.destroy() }
  },
  'ioredis cluster': async (
    ports: readonly number[],
    map: PortMap = new Map(),
    login: RedisLogin = {},
  ) => {
    const natMap = Object.fromEntries(
      ports.map((port) => [
        `127.0.0.1:${port}`,
        { host: '127.0.0.1', port: map.get(port) ?? port },
      ]),
    )
    const nodes = ports.map((port) => ({ host: '127.0.0.1', port: map.get(port) ?? port }))
    const cluster = new Cluster(nodes, {
      lazyConnect: true,
      enableOfflineQueue: false,
      retryDelayOnFailover: 0,
      natMap,
      redisOptions: login,
    }).on('error', ignore)
    await cluster.connect()
    return { client: cluster, close: async () => cluster.disconnect() }
  },
}

/** A key prefix that no other run has. */
export function newPrefix(): string {
  return `test-${randomBytes(6).toString('hex')}:`
}

/** Every key under a prefix, of one server. */
export async function keysUnder(url: string, prefix: string): Promise<readonly string[]> {
  return withServer(url, async (client) => {
    const keys: string[] = []
    for await (const some of client.scanStream({ match: `{${prefix}*`, count: 1000 })) {
      keys.push(...some)
    }
    return [...new Set(keys)]
  })
}

/** Removes the keys under a prefix from one server; others stay. */
export async function removeKeys(url: string, prefix: string): Promise<void> {
  const keys = await keysUnder(url, prefix)
  await withServer(url, async (client) => {
    for (let at = 0; at < keys.length; at += 1000) await client.unlink(keys.slice(at, at + 1000))
  })
}

/** Runs with a plain connection that is closed afterwards. */
export async function withServer<R>(url: string, use: (client: Redis) => Promise<R>): Promise<R> {
  const client = new Redis(url)
  try {
    return await use(client)
  } finally {
    client.disconnect()
  }
}

/**
 * Both libraries say so of a command that was never sent, or that each node which was asked refused: after a `MOVED`,
 * a cluster of `ioredis` with a `natMap` asks nodes at random until it has read the slots again.
 */
function wasNeverCarriedOut(error: unknown): boolean {
  if (error instanceof ClientOfflineError) return true
  if (!(error instanceof Error)) return false
  return (
    error.message.endsWith('enableOfflineQueue options is false') ||
    /^Too many Cluster redirections. Last error: ReplyError: (MOVED|NOSCRIPT) /.test(error.message)
  )
}

/**
 * A client that waits for its connection, before a command and after one that failed. It sends anew
 * only what it is told was never carried out.
 */
export function patient(client: RedisClient): RedisClient {
  const [member, ping] = 'call' in client ? ['call', ['ping', []]] : ['sendCommand', [['ping']]]
  const method: unknown = Reflect.get(client, member)
  if (typeof method !== 'function') throw new Error(`${member} is no method`)
  const send = async (args: readonly unknown[]): Promise<unknown> => {
    for (;;) {
      try {
        return await Reflect.apply(method, client, args)
      } catch (error) {
        if (!wasNeverCarriedOut(error)) throw error
        await turn()
      }
    }
  }
  return new Proxy(client, {
    get(target, name) {
      if (name !== member) return Reflect.get(target, name)
      return async (...args: unknown[]) => {
        try {
          return await send(args)
        } catch (error) {
          // Else the next answer to be lost would be one to the client's own greeting.
          await send(
            'masters' in target ? args.map((one) => (Array.isArray(one) ? ['ping'] : one)) : ping,
          )
          throw error
        }
      }
    },
  })
}
