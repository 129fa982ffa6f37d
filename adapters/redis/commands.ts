import type {
  IoredisClient,
  IoredisCluster,
  IoredisOptions,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisOptions,
  RedisClient,
} from './client.js'

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

/**
 * By default a client of either library keeps what it is asked while its server is away, and sends it at
 * the return: a write would take effect after its caller was told that it failed and has tried again,
 * which for a refresh token is a replay.
 */
function checkNodeRedis(options: NodeRedisOptions | undefined, path: string): void {
  if (options?.disableOfflineQueue !== true) {
    refuse('redis', `${path}disableOfflineQueue`, 'true', late)
  }
}

/**
 * By default `ioredis` sends a command again when the connection broke before its answer came: a
 * guarded write that had taken effect then answers that it had not. The options against it are needed
 * both: the first alone leaves such a command without any answer, once the client is connected again.
 */
function checkIoredis(options: IoredisOptions, path: string): void {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, readOnly, role } = options
  refuseOfflineQueue(options, path)
  if (autoResendUnfulfilledCommands !== false) {
    refuse(
      'ioredis',
      `${path}autoResendUnfulfilledCommands`,
      'false',
      'a write could be carried out twice',
    )
  }
  if (maxRetriesPerRequest !== 0) {
    const why = 'a call whose answer was lost would not be told of it'
    refuse('ioredis', `${path}maxRetriesPerRequest`, '0', why)
  }
  if (readOnly === true) refuse('ioredis', `${path}readOnly`, 'false', stale)
  if (role !== undefined && role !== 'master') refuse('ioredis', `${path}role`, '"master"', stale)
}

/**
 * A cluster sends a command again, to any node, when the connection to its node broke. Its nodes'
 * own connections are not repaired unless a strategy for it is given, so only then their options
 * count.
 */
function checkIoredisCluster(options: IoredisCluster['options']): void {
  refuseOfflineQueue(options, '')
  if (options.retryDelayOnFailover !== 0) {
    refuse('ioredis', 'retryDelayOnFailover', '0', 'a write could be carried out twice')
  }
  if (options.scaleReads !== undefined && options.scaleReads !== 'master') {
    refuse('ioredis', 'scaleReads', '"master"', stale)
  }
  if (typeof options.clusterNodeRetryStrategy === 'function') {
    // A cluster gives each node a queue of its own, whatever is said here, and drops it with the node.
    checkIoredis({ ...options.redisOptions, enableOfflineQueue: false }, 'redisOptions.')
  }
}

function refuseOfflineQueue(
  { enableOfflineQueue }: Pick<IoredisOptions, 'enableOfflineQueue'>,
  path: string,
): void {
  if (enableOfflineQueue !== false) refuse('ioredis', `${path}enableOfflineQueue`, 'false', late)
}

const stale = 'a replica may not have the last write, such as a revocation'

const late = 'a write that waited for its server would happen after its caller was told it failed'

function refuse(client: string, option: string, wanted: string, why: string): never {
  throw new TypeError(`redis: option "${option}" of the ${client} client must be ${wanted}: ${why}`)
}
