import { afterAll, afterEach, beforeAll, describe, expect, inject, it, test } from 'vitest'
import { redis } from '../../adapters/redis/index.js'
import { conformance, lostAnswerCases } from '../../src/testing/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { type LosingProxy, losingProxy } from '../support/hosts/line-proxy.js'
import { testEach } from '../support/stores/each-case.js'
import {
  keysUnder,
  newPrefix,
  type OpenClient,
  patient,
  removeKeys,
  singleClients,
  withServer,
} from '../support/stores/redis-clients.js'

const url = inject('redisUrl')
const found = url !== null
const server = url ?? ''
const prefixes: string[] = []

function prefix(): string {
  const made = newPrefix()
  prefixes.push(made)
  return made
}

afterAll(async () => {
  for (const made of prefixes) await removeKeys(server, made)
})

describe.skipIf(!found).each(Object.entries(singleClients))(
  found ? 'redis by %s' : 'redis by %s (Redis not found)',
  (name, open) => {
    const keyPrefix = prefix()
    let shared: OpenClient
    beforeAll(async () => {
      shared = await open(server)
    })
    afterAll(() => shared.close())

    const cases = conformance({
      open: ({ through }) => ({ backend: redis(through(shared.client), { keyPrefix }) }),
    })
    for (const { name: title, skip, run } of cases) {
      test.skipIf(skip)(`redis by ${name}: ${title}`, run)
    }

    describe('through a connection that breaks', () => {
      const opened: (OpenClient | LosingProxy)[] = []
      afterEach(async () => {
        for (const one of opened.splice(0).reverse()) await one.close()
      })

      testEach(
        'lost answer',
        lostAnswerCases(async () => {
          const proxy = await losingProxy(Number(new URL(server).port || 6379))
          opened.push(proxy)
          const broken = await open(`redis://127.0.0.1:${proxy.port}`)
          opened.push(broken)
          return {
            backend: redis(patient(broken.client), { keyPrefix }),
            loseNextAnswer: proxy.loseNextAnswer,
          }
        }),
      )
    })

    it('no key of any collection ever expires by itself', async () => {
      const own = prefix()
      const { store, denylist, counter, lease } = redis(shared.client, { keyPrefix: own })
      for (const expires of ['sliding', 'fixed', 'due'] as const) {
        const spec = sampleSpec(expires)
        await store.prepare([spec])
        const samples = store.collection(spec)
        await fill(samples, [sample('a', { expiresAt: 1000, team: 'x' }), sample('b')])
        await samples.update('a', { count: 0 }, { count: 1 })
      }
      await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
      await counter.hit('k', 1, 5, 1)
      await lease.replace('l', null, { owner: 'a', renewal: 1 })
      const keys = await keysUnder(server, own)
      expect(keys.length).toBeGreaterThan(20)
      await withServer(server, async (client) => {
        for (const key of keys) expect([key, await client.pttl(key)]).toEqual([key, -1])
      })
    })
  },
)
