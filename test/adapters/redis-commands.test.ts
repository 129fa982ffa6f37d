import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { redis } from '../../adapters/redis/index.js'
import { addingCounter } from '../../src/testing/shared/adding-counter.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { recordingRedis } from '../support/stores/recording-redis.js'
import {
  newPrefix,
  type OpenClient,
  removeKeys,
  singleClients,
  withServer,
} from '../support/stores/redis-clients.js'

const url = inject('redisUrl')
const title = url ? 'redis commands' : 'redis commands (Redis not found)'
const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!url)(title, () => {
  const server = url ?? ''
  const prefixes: string[] = []
  let open: OpenClient
  beforeAll(async () => {
    open = await singleClients.ioredis(server)
  })
  afterAll(async () => {
    await open.close()
    for (const prefix of prefixes) await removeKeys(server, prefix)
  })

  /** A prepared backend that records, its scripts known to the server. */
  async function recorded(expires: 'sliding' | 'due' = 'sliding', forgetful = false) {
    const keyPrefix = newPrefix()
    prefixes.push(keyPrefix)
    const { client, sent } = recordingRedis(open.client, { forgetful })
    const { store, ...ports } = redis(client, { keyPrefix })
    const spec = sampleSpec(expires)
    await store.prepare([spec])
    const samples = store.collection(spec)
    await fill(samples, [sample('a'), sample('b', { email: 'taken@example.test' })])
    const on = { samples, sent, keyPrefix, ...ports }
    sent.length = 0
    return on
  }

  type Recorded = Awaited<ReturnType<typeof recorded>>

  const calls: Readonly<Record<string, readonly [number, (on: Recorded) => Promise<unknown>]>> = {
    get: [1, ({ samples }) => samples.get('a')],
    find: [2, ({ samples }) => samples.find({ team: null }, { limit: 10, after: '' })],
    'find of nothing': [1, ({ samples }) => samples.find({ team: 'x' }, { limit: 10 })],
    'find by a unique value': [
      2,
      ({ samples }) => samples.find({ email: 'taken@example.test' }, { limit: 2 }),
    ],
    insert: [1, ({ samples }) => samples.insert(sample('c'))],
    'insert that is refused': [1, ({ samples }) => samples.insert(sample('a'))],
    update: [1, ({ samples }) => samples.update('a', { count: 0, team: null }, { count: 1 })],
    'update that misses': [1, ({ samples }) => samples.update('a', { count: 9 }, { count: 1 })],
    'update to a taken value': [
      1,
      ({ samples }) => samples.update('a', { count: 0 }, { email: 'taken@example.test' }),
    ],
    take: [1, ({ samples }) => samples.take('a', { score: { in: [1, null] } })],
    due: [1, ({ samples }) => samples.due(noon, 10)],
    sweep: [1, ({ samples }) => samples.sweep(noon, 10)],
    'denylist.put': [
      1,
      ({ denylist }) =>
        denylist.put(['x', 'y'].map((id) => ({ id, reason: 'revoked', expiresAt: noon }) as const)),
    ],
    'denylist.find': [1, ({ denylist }) => denylist.find(['x', 'y'])],
    'denylist.sweep': [1, ({ denylist }) => denylist.sweep(noon, 10)],
    'lease.read': [1, ({ lease }) => lease.read('sweeper')],
    'lease.replace': [1, ({ lease }) => lease.replace('s', null, { owner: 'a', renewal: 1 })],
    'counter.hit': [1, ({ counter }) => counter.hit('k', 1000, 5, noon)],
    'counter.add': [1, ({ counter }) => addingCounter(counter).add('k', 1000, 5, noon, 3)],
    'counter.forgive': [1, ({ counter }) => counter.forgive('k', 1)],
    'counter.forgive of all': [1, ({ counter }) => counter.forgive('k')],
    'counter.sweep': [1, ({ counter }) => counter.sweep(noon, 10)],
  }

  it.each(Object.entries(calls))('%s takes no more round trips than it must', async (...args) => {
    const [, [count, call]] = args
    await call(await recorded())
    const on = await recorded()
    await call(on)
    expect(on.sent.filter(([name]) => name === 'evalsha')).toHaveLength(count)
  })

  it('a sweep asks for the expired once, and removes a hundred at a time', async () => {
    const on = await recorded()
    const names = Array.from({ length: 250 }, (_, at) => `e${at}`)
    await Promise.all(names.map((id) => on.samples.insert(sample(id, { expiresAt: noon }))))
    on.sent.length = 0
    expect(await on.samples.sweep(noon, 1000)).toEqual({ removed: 250, left: 0 })
    expect(on.sent.filter(([name]) => name === 'evalsha')).toHaveLength(1 + 3)
  })

  it('declares every key, all of them in one slot', async () => {
    const on = await recorded('due')
    for (const [, call] of Object.values(calls).filter(([, one]) => one !== calls['sweep']?.[1])) {
      await call(on)
    }
    expect(on.sent.length).toBeGreaterThan(20)
    for (const [name, , count, ...rest] of on.sent) {
      expect(name).toMatch(/^eval(sha)?$/)
      const keys = rest.slice(0, Number(count))
      expect(new Set(keys.map((key) => /^\{[^{}]+\}/.exec(key)?.[0])).size).toBe(1)
    }
  })

  it("no script reads the server's clock", async () => {
    const on = await recorded('sliding', true)
    for (const [, call] of Object.values(calls)) await call(on)
    const texts = on.sent.filter(([name]) => name === 'eval').map(([, text = '']) => text)
    expect(texts.length).toBeGreaterThan(10)
    expect(texts.filter((text) => /TIME|os\.|EXPIRE/.test(text))).toEqual([])
  })

  it('leaves nothing of a document behind that was taken or swept', async () => {
    const on = await recorded()
    await on.samples.insert(sample('e', { expiresAt: noon }))
    await on.samples.update('a', { count: 0 }, { email: 'new@example.test', team: 'y' })
    for (const id of ['a', 'b']) await on.samples.take(id)
    await on.samples.sweep(noon, 10)
    await withServer(server, async (client) => {
      const keys = await client.keys(`{${on.keyPrefix}kit_*`)
      expect(keys.map((key) => key.slice(key.indexOf('}')))).toEqual(['}:s'])
    })
  })
})
