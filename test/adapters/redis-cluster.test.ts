import { createCluster } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { redis } from '../../adapters/redis/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import { conformance, lostAnswerCases } from '../../src/testing/index.js'
import { type LosingProxy, losingProxy } from '../support/hosts/line-proxy.js'
import { testEach } from '../support/stores/each-case.js'
import { type RedisServer, spawnRedisCluster } from '../support/stores/redis.js'
import {
  clusterClients,
  keysUnder,
  newPrefix,
  type OpenClient,
  patient,
  withServer,
} from '../support/stores/redis-clients.js'

const installed = inject('redisInstalled')
const title = installed ? 'a Redis Cluster' : 'a Redis Cluster (no redis-server found)'

describe.skipIf(!installed)(title, () => {
  let nodes: readonly RedisServer[] = []
  const ports = (): readonly number[] => nodes.map(({ port }) => port)

  beforeAll(async () => {
    nodes = await spawnRedisCluster()
  }, 120_000)
  afterAll(async () => {
    for (const node of nodes) await node.remove()
  })

  /** Ports of the nodes that are replicas, or that are not. */
  async function nodesThatAre(role: 'master' | 'slave'): Promise<readonly RedisServer[]> {
    const roles = await Promise.all(
      nodes.map(({ url }) => withServer(url, async (client) => (await client.role())[0])),
    )
    return nodes.filter((_, at) => roles[at] === role)
  }

  it('a cluster client that keeps what it is asked is refused by prepare', async () => {
    const url = nodes[0]?.url ?? ''
    const cluster = createCluster({ rootNodes: [{ url }] }).on('error', () => {})
    await cluster.connect()
    try {
      await expect(redis(cluster).store.prepare([])).rejects.toThrow(
        'redis: option "defaults.disableOfflineQueue" of the redis client must be true: ',
      )
    } finally {
      cluster.destroy()
    }
  })

  describe.each(Object.entries(clusterClients))('by %s', (name, open) => {
    const keyPrefix = newPrefix()
    let shared: OpenClient
    beforeAll(async () => {
      shared = await open(ports())
    })
    afterAll(() => shared.close())

    const cases = conformance({
      open: ({ through }) => ({ backend: redis(through(shared.client), { keyPrefix }) }),
    })
    for (const { name: caseName, skip, run } of cases) {
      test.skipIf(skip)(`redis by ${name}: ${caseName}`, run)
    }

    describe('through connections that break', () => {
      const opened: (OpenClient | LosingProxy)[] = []
      afterEach(async () => {
        for (const one of opened.splice(0).reverse()) await one.close()
      })

      testEach(
        'lost answer',
        lostAnswerCases(async () => {
          const loss = { armed: false }
          const map = new Map<number, number>()
          for (const port of ports()) {
            const proxy = await losingProxy(port, loss, keyPrefix)
            opened.push(proxy)
            map.set(port, proxy.port)
          }
          const broken = await open(ports(), map)
          opened.push(broken)
          return {
            backend: redis(patient(broken.client), { keyPrefix }),
            loseNextAnswer() {
              loss.armed = true
            },
          }
        }),
      )
    })

    it('spreads the collections over the nodes, each one whole on one of them', async () => {
      const own = newPrefix()
      const { store } = redis(shared.client, { keyPrefix: own })
      const specs = allCollectionSpecs('')
      await store.prepare(specs)
      const held: string[][] = []
      for (const { url } of await nodesThatAre('master')) {
        const keys = await keysUnder(url, own)
        held.push([...new Set(keys.map((key) => key.slice(0, key.indexOf('}'))))])
      }
      expect(held).toHaveLength(3)
      expect(held.map((tags) => tags.length)).not.toContain(0)
      const all = held.flat()
      expect(new Set(all).size).toBe(all.length)
      expect(all).toHaveLength(specs.length + 3)
    })

    it('asks no replica for anything', async () => {
      for (const { url } of await nodesThatAre('slave')) {
        const stats = await withServer(url, (client) => client.info('commandstats'))
        expect(stats).not.toMatch(/cmdstat_eval/)
      }
    })
  })
})
