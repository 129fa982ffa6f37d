import type { IoredisCluster, IoredisOptions } from './client.js'

/**
 * By default `ioredis` sends a command again when the connection broke before its answer came: a
 * guarded write that had taken effect then answers that it had not. Both options are needed: the
 * first alone leaves such a command without any answer, once the client is connected again.
 */
export function checkIoredis(options: IoredisOptions, path: string): void {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, readOnly, role } = options
  if (autoResendUnfulfilledCommands !== false) {
    refuse(`${path}autoResendUnfulfilledCommands`, 'false', 'a write could be carried out twice')
  }
  if (maxRetriesPerRequest !== 0) {
    const why = 'a call whose answer was lost would not be told of it'
    refuse(`${path}maxRetriesPerRequest`, '0', why)
  }
  if (readOnly === true) refuse(`${path}readOnly`, 'false', stale)
  if (role !== undefined && role !== 'master') refuse(`${path}role`, '"master"', stale)
}

/**
 * A cluster sends a command again, to any node, when the connection to its node broke. Its nodes'
 * own connections are not repaired unless a strategy for it is given, so only then their options
 * count.
 */
export function checkIoredisCluster(options: IoredisCluster['options']): void {
  if (options.retryDelayOnFailover !== 0) {
    refuse('retryDelayOnFailover', '0', 'a write could be carried out twice')
  }
  if (options.scaleReads !== undefined && options.scaleReads !== 'master') {
    refuse('scaleReads', '"master"', stale)
  }
  if (typeof options.clusterNodeRetryStrategy === 'function') {
    checkIoredis(options.redisOptions ?? {}, 'redisOptions.')
  }
}

const stale = 'a replica may not have the last write, such as a revocation'

function refuse(option: string, wanted: string, why: string): never {
  throw new TypeError(`redis: option "${option}" of the ioredis client must be ${wanted}: ${why}`)
}
