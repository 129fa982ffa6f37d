import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool, createCluster, createSentinel } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import type { RedisClient } from '../../adapters/redis/client.js'
import { redis } from '../../adapters/redis/index.js'
import { sampleSpec } from '../../src/testing/shared/sample.js'
import { sendOnce } from '../support/stores/redis-clients.js'

const nodes = [{ host: '127.0.0.1', port: 1 }]
const made: { disconnect(): void }[] = []

function ioredis(options: object): Redis {
  const client = new Redis({ ...sendOnce, lazyConnect: true, ...options })
  made.push(client)
  return client
}

function ioredisCluster(options: object): Cluster {
  const once = { enableOfflineQueue: false, retryDelayOnFailover: 0 }
  const cluster = new Cluster(nodes, { ...once, lazyConnect: true, ...options })
  made.push(cluster)
  return cluster
}

afterEach(() => {
  for (const client of made.splice(0)) client.disconnect()
})

describe('redis options', () => {
  it.each(['a{b}', 'a b', 'ä', 'x'.repeat(65), 'a/b', '*'])(
    'keyPrefix %j is refused by name',
    (keyPrefix) => {
      expect(() => redis(ioredis({}), { keyPrefix })).toThrow(/^redis: option "keyPrefix" must be/)
    },
  )

  it('assumeNoEviction is refused by name', () => {
    // A host without types may pass anything.
    const options = { assumeNoEviction: 'yes' } as never
    expect(() => redis(ioredis({}), options)).toThrow('redis: option "assumeNoEviction" must be')
  })

  it.each<[string, () => RedisClient]>([
    ['a node-redis client', () => createClient({ disableOfflineQueue: true })],
    ['a node-redis cluster', () => createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }] })],
    ['an ioredis client', () => ioredis({})],
    ['an ioredis cluster', () => ioredisCluster({})],
    [
      'an ioredis cluster that repairs connections to its nodes',
      () => ioredisCluster({ clusterNodeRetryStrategy: () => 100, redisOptions: sendOnce }),
    ],
  ])('%s is accepted and nothing is asked of the server', (_name, client) => {
    redis(client(), { keyPrefix: '' }).store.collection(sampleSpec('sliding'))
  })

  it.each([
    [
      'autoResendUnfulfilledCommands',
      'false',
      () => ioredis({ autoResendUnfulfilledCommands: true }),
    ],
    ['maxRetriesPerRequest', '0', () => ioredis({ maxRetriesPerRequest: 20 })],
    ['maxRetriesPerRequest', '0', () => ioredis({ maxRetriesPerRequest: null })],
    ['enableOfflineQueue', 'false', () => ioredis({ enableOfflineQueue: true })],
    ['enableOfflineQueue', 'false', () => ioredis({ enableOfflineQueue: undefined })],
    ['enableOfflineQueue', 'false', () => ioredisCluster({ enableOfflineQueue: true })],
    ['readOnly', 'false', () => ioredis({ readOnly: true })],
    ['role', '"master"', () => ioredis({ role: 'slave' })],
    ['retryDelayOnFailover', '0', () => ioredisCluster({ retryDelayOnFailover: 100 })],
    ['scaleReads', '"master"', () => ioredisCluster({ scaleReads: 'slave' })],
    ['scaleReads', '"master"', () => ioredisCluster({ scaleReads: 'all' })],
    [
      'redisOptions.autoResendUnfulfilledCommands',
      'false',
      () => ioredisCluster({ clusterNodeRetryStrategy: () => 100 }),
    ],
  ] as const)('an ioredis client is refused by its option %s', (option, wanted, client) => {
    expect(() => redis(client())).toThrow(
      `redis: option "${option}" of the ioredis client must be ${wanted}: `,
    )
  })

  it.each([null, undefined, {}, 'redis://127.0.0.1', () => {}])('%s is no client', (client) => {
    // A host without types may pass anything.
    expect(() => redis(client as never)).toThrow(/^redis: needs a connected client/)
  })

  it.each([{}, { disableOfflineQueue: false }])(
    'a node-redis client that keeps what it is asked is refused: %j',
    (options) => {
      expect(() => redis(createClient(options))).toThrow(
        'redis: option "disableOfflineQueue" of the redis client must be true: ',
      )
    },
  )

  it('a client that is not connected is told apart from a server that refuses', async () => {
    const { store } = redis(createClient({ disableOfflineQueue: true }))
    await expect(store.prepare([])).rejects.toThrow('is the client connected')
  })

  it('a node-redis pool, which does not tell its options, is refused', () => {
    const pool = createClientPool({ disableOfflineQueue: true })
    expect(() => redis(pool as never)).toThrow(/^redis: needs a connected client/)
  })

  it('a node-redis sentinel, which may read from replicas, is refused', () => {
    const sentinel = createSentinel({ name: 'm', sentinelRootNodes: nodes })
    expect(() => redis(sentinel as never)).toThrow(/^redis: needs a connected client/)
  })
})
