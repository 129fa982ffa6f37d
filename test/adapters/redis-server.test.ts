import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, describe, expect, inject, it } from 'vitest'
import { redis } from '../../adapters/redis/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { type RedisServer, spawnRedis } from '../support/stores/redis.js'
import { singleClients, withServer } from '../support/stores/redis-clients.js'

const installed = inject('redisInstalled')
const title = installed ? 'a Redis that' : '(no redis-server found) a Redis that'
const durable = { appendonly: 'yes', appendfsync: 'always' }
const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!installed).each(Object.entries(singleClients))(
  `${title}, by %s,`,
  (_name, open) => {
    const opened: (() => Promise<void>)[] = []
    afterEach(async () => {
      for (const close of opened.splice(0).reverse()) await close()
    })

    async function started(settings: Readonly<Record<string, string>>): Promise<RedisServer> {
      const server = await spawnRedis(settings)
      opened.push(() => server.remove())
      return server
    }

    async function clientOf(url: string) {
      const { client, close } = await open(url)
      opened.push(close)
      return client
    }

    async function prepared(settings: Readonly<Record<string, string>>) {
      const server = await started(settings)
      const backend = redis(await clientOf(server.url))
      const spec = sampleSpec('sliding')
      await backend.store.prepare([spec])
      const samples = backend.store.collection(spec)
      await fill(samples, [sample('a')])
      return { ...backend, server, spec, samples }
    }

    it('goes away and comes back: calls reject meanwhile and work again afterwards', async () => {
      const { server, samples, denylist } = await prepared(durable)
      await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: noon }])
      // Under way as it dies: whatever it did, the caller is not told that it did nothing.
      const underWay = samples.update('a', { count: 0 }, { score: 1 }).catch(() => 'rejected')
      await server.stop('SIGKILL')
      expect([sample('a', { score: 1 }), 'rejected']).toContainEqual(await underWay)
      const gone = Promise.allSettled([
        samples.get('a'),
        samples.update('a', { count: 0 }, { count: 1 }),
        denylist.find(['x']),
      ])
      // A client that waits for its server instead of failing is answered by it.
      await server.start()
      for (const call of await gone) {
        if (call.status === 'fulfilled') expect(call.value).not.toBe(null)
      }
      const after = await eventually(() => samples.get('a'))
      expect(after).toMatchObject({ id: 'a' })
      expect(await denylist.find(['x'])).toHaveLength(1)
    })

    it('came back empty is not taken for one on which nobody is signed out', async () => {
      const { server, store, spec, samples, denylist, counter, lease } = await prepared({})
      await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: noon }])
      await server.stop('SIGKILL')
      await server.start()
      await eventually(() => withServer(server.url, (client) => client.ping()))
      const lost = { name: 'NotMigratedError', code: 'await_auth_migrate_or_store_prepare' }
      await expect(eventuallyAnswered(() => denylist.find(['x']))).rejects.toMatchObject(lost)
      await expect(
        denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }]),
      ).rejects.toMatchObject(lost)
      await expect(counter.hit('k', 1000, 5, noon)).rejects.toMatchObject(lost)
      await expect(counter.forgive('k')).rejects.toMatchObject(lost)
      await expect(lease.read('l')).rejects.toMatchObject(lost)
      await expect(samples.get('a')).rejects.toMatchObject(lost)
      await expect(samples.find({ team: null }, { limit: 1 })).rejects.toMatchObject(lost)
      await expect(samples.find({ email: 'a' }, { limit: 1 })).rejects.toMatchObject(lost)
      await expect(samples.insert(sample('b'))).rejects.toMatchObject(lost)
      await expect(samples.update('a', { count: 0 }, { count: 1 })).rejects.toMatchObject(lost)
      await expect(samples.take('a')).rejects.toMatchObject(lost)
      await expect(samples.due(noon, 1)).rejects.toMatchObject(lost)
      await expect(samples.sweep(noon, 1)).rejects.toMatchObject(lost)
      await expect(denylist.sweep(noon, 1)).rejects.toMatchObject(lost)
      await store.prepare([spec])
      expect(await samples.get('a')).toBe(null)
    })

    it('has forgotten its scripts is given them again', async () => {
      const { server, samples } = await prepared({})
      await withServer(server.url, (client) => client.script('FLUSH'))
      expect(await samples.update('a', { count: 0 }, { count: 1 })).toEqual(
        sample('a', { count: 1 }),
      )
    })

    it('is full refuses writes, and what it holds stays', async () => {
      const { server, samples, denylist } = await prepared({})
      await withServer(server.url, (client) => client.config('SET', 'maxmemory', '1'))
      await expect(samples.update('a', { count: 0 }, { count: 1 })).rejects.toThrow(/OOM/)
      await expect(samples.insert(sample('b'))).rejects.toThrow(/OOM/)
      await expect(denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])).rejects.toThrow(
        /OOM/,
      )
      expect(await samples.get('a')).toEqual(sample('a'))
      expect(await samples.take('a')).toEqual(sample('a'))
    })

    it.each(['allkeys-lru', 'volatile-ttl'])(
      'may evict (%s) is refused by prepare',
      async (policy) => {
        const server = await started({ 'maxmemory-policy': policy })
        const { store } = redis(await clientOf(server.url), { assumeNoEviction: true })
        await expect(store.prepare([])).rejects.toThrow(
          `redis: option "maxmemory-policy" of the server must be "noeviction": "${policy}" lets it`,
        )
      },
    )

    it('does not tell its policy is refused, unless the host knows it', async () => {
      const server = await started({})
      await withServer(server.url, (client) =>
        client.acl('SETUSER', 'app', 'on', '>app', '~*', '+@all', '-info', '-config'),
      )
      const url = new URL(server.url)
      url.username = 'app'
      url.password = 'app'
      // The ready check of ioredis is an INFO as well, which it takes a refusal of for an answer.
      const client = await clientOf(url.href)
      await expect(redis(client).store.prepare([])).rejects.toThrow(
        'redis: the server does not tell its "maxmemory-policy" (INFO memory failed)',
      )
      const { store, counter } = redis(client, { assumeNoEviction: true })
      await store.prepare([])
      expect(await counter.hit('k', 1000, 5, noon)).toMatchObject({ count: 1 })
    })
  },
)

/** The answer, once there is a connection again. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch {
      // Not yet: the client connects anew by itself.
      await turn()
    }
  }
}

/** As `eventually`, but a refusal by the server is an answer too. */
async function eventuallyAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (error instanceof Error && error.name === 'NotMigratedError') throw error
      await turn()
    }
  }
}
