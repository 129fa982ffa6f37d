import { Cluster, Redis } from 'ioredis'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { type LosingProxy, losingProxy } from '../support/hosts/line-proxy.js'
import { type RedisServer, spawnRedis } from '../support/stores/redis.js'

const installed = inject('redisInstalled')
const title = installed ? 'what ioredis does' : 'what ioredis does (no redis-server found)'

/**
 * Why the backend refuses some options: what the driver does with them when an answer is lost. A
 * driver that has mended its ways shows here.
 */
describe.skipIf(!installed)(title, () => {
  const opened: { close(): Promise<void> }[] = []
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close()
  })

  async function proxied(settings: Readonly<Record<string, string>> = {}): Promise<{
    server: RedisServer
    proxy: LosingProxy
  }> {
    const server = await spawnRedis(settings)
    opened.push({ close: () => server.remove() })
    const proxy = await losingProxy(server.port)
    opened.push(proxy)
    return { server, proxy }
  }

  async function client(options: object) {
    const { proxy } = await proxied()
    const redis = new Redis({ port: proxy.port, ...options }).on('error', () => {})
    opened.push({ close: async () => redis.disconnect() })
    await redis.ping()
    return { redis, proxy }
  }

  it('by default it sends a command again whose answer was lost', async () => {
    const { redis, proxy } = await client({})
    proxy.loseNextAnswer()
    expect(await redis.incr('n')).toBe(2)
  })

  it('with autoResendUnfulfilledCommands: false alone it never answers', async () => {
    const { redis, proxy } = await client({ autoResendUnfulfilledCommands: false })
    proxy.loseNextAnswer()
    let settled = false
    const settle = () => {
      settled = true
    }
    redis.incr('n').then(settle, settle)
    // Answered over the new connection, after which nothing is left to settle the first.
    await new Promise((resolve) => redis.once('ready', resolve))
    expect(await redis.get('n')).toBe('1')
    expect(settled).toBe(false)
  })

  it('with both options it rejects, and sends nothing twice', async () => {
    const { redis, proxy } = await client({
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    })
    proxy.loseNextAnswer()
    await expect(redis.incr('n')).rejects.toThrow()
    expect(await redis.get('n')).toBe('1')
  })

  describe('in a cluster', () => {
    /** One node that has all slots, known by its proxy's port. */
    async function cluster(options: object) {
      const { server, proxy } = await proxied({
        'cluster-enabled': 'yes',
        'cluster-announce-ip': '127.0.0.1',
      })
      const node = new Redis(server.url)
      await node.cluster('ADDSLOTSRANGE', 0, 16_383)
      while (!String(await node.cluster('INFO')).includes('cluster_state:ok'));
      node.disconnect()
      const natMap = { [`127.0.0.1:${server.port}`]: { host: '127.0.0.1', port: proxy.port } }
      const redis = new Cluster([{ host: '127.0.0.1', port: proxy.port }], { natMap, ...options })
      redis.on('error', () => {})
      opened.push({ close: async () => redis.disconnect() })
      await redis.set('ready', '1')
      return { redis, proxy }
    }

    it('by default it sends a command again whose answer was lost', async () => {
      const { redis, proxy } = await cluster({})
      proxy.loseNextAnswer()
      expect(await redis.incr('n')).toBe(2)
    })

    it('with retryDelayOnFailover: 0 it rejects, and sends nothing twice', async () => {
      const { redis, proxy } = await cluster({ retryDelayOnFailover: 0 })
      proxy.loseNextAnswer()
      await expect(redis.incr('n')).rejects.toThrow()
      expect(await redis.get('n')).toBe('1')
    })
  })
})
