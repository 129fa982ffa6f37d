import type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  RedisClient,
} from './client.js'
import { checkIoredis, checkIoredisCluster, checkNodeRedis } from './refuse-resending.js'

/** The two things this backend asks of a client of any kind. */
export interface Commands {
  /** Sends one command, once, to the primary that holds `key`. */
  send(key: string, args: readonly string[]): Promise<unknown>
  /** Sends one command to every primary. */
  sendToAll(args: readonly string[]): Promise<readonly unknown[]>
}

/**
 * Recognises a client by its members, since loading a driver for `instanceof` would make it a
 * dependency. Throws a `TypeError` for anything else, and for a client that queues or repeats writes,
 * or reads from replicas. A pool is refused too, because it does not show its options.
 */
export function commandsOf(client: RedisClient): Commands {
  const has = (...names: readonly string[]): boolean =>
    typeof client === 'object' && client !== null && names.every((name) => name in client)
  // Each kind is known by members that none of the others has.
  if (has('isCluster', 'call', 'nodes')) return ioredisCluster(client as IoredisCluster)
  if (has('status', 'call', 'options')) return ioredis(client as IoredisClient)
  if (has('sendCommand', 'masters', 'nodeClient'))
    return nodeRedisCluster(client as NodeRedisCluster)
  if (has('sendCommand', 'isOpen', 'options') && !has('getSentinelNode')) {
    return nodeRedis(client as NodeRedisClient)
  }
  throw new TypeError(
    'redis: needs a connected client or cluster of the package "redis" (createClient, ' +
      'createCluster; one client does the work of a pool), or a Redis or Cluster of the package "ioredis"',
  )
}

/** Text stays text here, whatever the host has replies turned into elsewhere. */
const plain = { typeMapping: {} }

/** Such a client rejects what was sent when its connection breaks, and sends nothing twice. */
function nodeRedis(client: NodeRedisClient): Commands {
  checkNodeRedis(client.options, '')
  return {
    send: (_key, args) => client.sendCommand([...args], plain),
    sendToAll: async (args) => [await client.sendCommand([...args], plain)],
  }
}

function nodeRedisCluster(cluster: NodeRedisCluster): Commands {
  return {
    // Never as a read: with `useReplicas` those go to replicas, which may not have the last write.
    send: (key, args) => cluster.sendCommand(key, false, [...args], plain),
    sendToAll: (args) =>
      Promise.all(
        cluster.masters.map(async (master) => {
          // The cluster's own method for the cluster's own nodes, whose type is the driver's.
          const node = await cluster.nodeClient(master as never)
          // Only connected nodes tell, so this is seen when a host prepares.
          checkNodeRedis(node.options, 'defaults.')
          return node.sendCommand([...args], plain)
        }),
      ),
  }
}

function ioredis(client: IoredisClient): Commands {
  checkIoredis(client.options, '')
  return {
    send: (_key, args) => call(client, args),
    sendToAll: async (args) => [await call(client, args)],
  }
}

function ioredisCluster(cluster: IoredisCluster): Commands {
  checkIoredisCluster(cluster.options)
  return {
    send: (_key, args) => call(cluster, args),
    sendToAll: (args) => Promise.all(cluster.nodes('master').map((node) => call(node, args))),
  }
}

function call(client: IoredisClient | IoredisCluster, args: readonly string[]): Promise<unknown> {
  const [command = '', ...rest] = args
  return client.call(command, rest)
}
