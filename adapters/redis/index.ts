import { shapeReader } from '../../src/checks/shape.js'
import type { Backend } from '../../src/ports/backend.js'
import type { Inspection } from '../../src/ports/inspection.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'
import { collectionLease, leaseSpec } from '../shared/collection-lease.js'
import type {
  IoredisClient,
  IoredisCluster,
  IoredisOptions,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisCommandOptions,
  NodeRedisOptions,
  RedisClient,
} from './client.js'
import { redisCollection } from './collection.js'
import { commandsOf } from './commands.js'
import { redisCounter } from './counter.js'
import { isDenylistMarked, markDenylist, redisDenylist } from './denylist.js'
import { keysOf } from './keys.js'
import { checkOptions, type RedisOptions } from './options.js'
import { type Place, prepareCollection, refuseEviction, stepsOf } from './prepare.js'
import { runOn } from './script.js'

export type {
  IoredisClient,
  IoredisCluster,
  IoredisOptions,
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisCommandOptions,
  NodeRedisOptions,
  RedisClient,
  RedisOptions,
}

/**
 * A backend on Redis 6.2 or newer, a single server or a cluster. `client` is a connected client
 * or cluster of `redis`, or a `Redis` or `Cluster` of `ioredis`. The call itself does no I/O;
 * `auth.migrate()` records the collections, builds new indexes, and rejects unless the server's
 * `maxmemory-policy` is `noeviction`. No key expires by itself.
 *
 * Throws a `TypeError` that names the option for an invalid key prefix, and for a client that queues
 * or repeats writes, or reads from replicas. `redis` needs `disableOfflineQueue: true`; for a cluster
 * it belongs in `defaults`, and `auth.migrate()` checks it. `ioredis` needs `enableOfflineQueue: false`,
 * `autoResendUnfulfilledCommands: false` and `maxRetriesPerRequest: 0`, its `Cluster`
 * `enableOfflineQueue: false` and `retryDelayOnFailover: 0`.
 *
 * @example
 * import { createAuth } from 'postern'
 * import { redis } from 'postern/redis'
 * import { createClient } from 'redis'
 *
 * const client = createClient({ url: 'redis://localhost', disableOfflineQueue: true })
 * client.on('error', console.error)
 * await client.connect()
 * const auth = await createAuth({ ...options, backend: redis(client) })
 */
export function redis(client: RedisClient, options: RedisOptions = {}): Backend {
  const commands = commandsOf(client)
  checkOptions(options)
  const run = runOn(commands)
  const shapeOf = shapeReader()
  const bind = (spec: AnyCollectionSpec): Place => {
    const shape = shapeOf(spec)
    return { shape, keys: keysOf(shape.name, options) }
  }
  const [denylist, lease, counter] = [bind(denylistSpec), bind(leaseSpec), bind(counterSpec)]
  function placesOf(specs: readonly AnyCollectionSpec[]): readonly Place[] {
    const reserved = specs.find(({ name }) => name.startsWith('postern_'))
    if (reserved) throw new TypeError(`redis: "${reserved.name}": "postern_" is reserved`)
    return [denylist, lease, counter, ...specs.map(bind)]
  }

  async function inspected(holdsDocuments: boolean): Promise<readonly Inspection[]> {
    const { inspect } = await import('./inspect.js')
    const assumeNoEviction = options.assumeNoEviction === true
    return [await inspect(commands, { assumeNoEviction, holdsDocuments })]
  }
  const alone = { inspect: () => inspected(false) }

  return {
    store: {
      collection(spec) {
        const { shape, keys } = bind(spec)
        return redisCollection(run, shape, keys)
      },
      async prepare(specs) {
        const places = placesOf(specs)
        await refuseEviction(commands, options.assumeNoEviction === true)
        for (const place of places) await prepareCollection(run, place)
        // Last, so that what a crash leaves is prepared again.
        await markDenylist(run, denylist.keys)
      },
      async plan(specs) {
        const places = placesOf(specs)
        await refuseEviction(commands, options.assumeNoEviction === true)
        const steps = (await Promise.all(places.map((place) => stepsOf(run, place)))).flat()
        if (await isDenylistMarked(run, denylist.keys)) return steps
        return [...steps, { name: `${denylist.shape.name}/marker`, statement: null, blocks: 0 }]
      },
      inspect: () => inspected(true),
    },
    denylist: { ...redisDenylist(run, denylist.keys), ...alone },
    lease: { ...collectionLease(redisCollection(run, lease.shape, lease.keys)), ...alone },
    counter: { ...redisCounter(run, counter.keys), ...alone },
  }
}

/** Their entries are no documents; `prepare` only notes that they are there. */
const entries = { fields: {}, indexes: [], expires: 'fixed' } as const
const denylistSpec: AnyCollectionSpec = { name: 'postern_denylist', ...entries }
const counterSpec: AnyCollectionSpec = { name: 'postern_counters', ...entries }
