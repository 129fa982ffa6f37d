import type { IoredisCluster, IoredisOptions, NodeRedisOptions } from './client.js'

/**
 * By default a client of either library keeps what it is asked while its server is away, and sends it at
 * the return: a write would take effect after its caller was told that it failed and has tried again,
 * which for a refresh token is a replay.
 */
export function checkNodeRedis(options: NodeRedisOptions | undefined, path: string): void {
  if (options?.disableOfflineQueue !== true) {
    refuse('redis', `${path}disableOfflineQueue`, 'true', late)
  }
}

/**
 * By default `ioredis` sends a command again when the connection broke before its answer came: a
 * guarded write that had taken effect then answers that it had not. The options against it are needed
 * both: the first alone leaves such a command without any answer, once the client is connected again.
 */
export function checkIoredis(options: IoredisOptions, path: string): void {
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
export function checkIoredisCluster(options: IoredisCluster['options']): void {
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
