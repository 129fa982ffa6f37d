import { type Db, MongoClient } from 'mongodb'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { type LosingProxy, losingProxy } from '../support/hosts/line-proxy.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'

const server = inject('mongo')
const noon = Date.UTC(2030, 5, 15, 12)

/** A replica set may answer a repeated write with what the first one did; a single server may not. */
describe.skipIf(!server)(mongoTitle('mongo, an answer lost on the wire'), () => {
  const { database } = mongoDatabases()
  let proxy: LosingProxy
  let client: MongoClient

  beforeAll(async () => {
    const { hostname, port } = new URL(server?.url ?? '')
    proxy = await losingProxy({ host: hostname, port: Number(port || 27_017) })
    const url = new URL(server?.url ?? '')
    url.host = `127.0.0.1:${proxy.port}`
    // The driver's own defaults: it repeats reads, and writes where the server tells them apart.
    client = new MongoClient(url.href, { directConnection: true })
  })
  afterAll(async () => {
    await client.close()
    await proxy.close()
  })

  async function prepared() {
    const direct = database()
    const db: Db = client.db(direct.databaseName)
    const spec = sampleSpec('sliding')
    await mongo({ db: direct }).store.prepare([spec])
    const open = (on: Db) => {
      const backend = mongo({ db: on })
      return { ...backend, samples: backend.store.collection(spec) }
    }
    const [direct_, lossy] = [open(direct), open(db)]
    await fill(lossy.samples, [sample('a', { expiresAt: noon })])
    await Promise.all([lossy.denylist.find(['x']), lossy.lease.read('x')])
    await lossy.counter.forgive('x')
    return { direct: direct_, lossy }
  }

  type Opened = Awaited<ReturnType<typeof prepared>>['lossy']

  it.each<[string, string, (on: Opened) => Promise<unknown>, (on: Opened) => Promise<unknown>]>([
    ['insert', 'insert', (on) => on.samples.insert(sample('b')), (on) => on.samples.get('b')],
    [
      'update',
      'findAndModify',
      (on) => on.samples.update('a', { count: 0 }, { count: 1 }),
      (on) => on.samples.get('a').then((doc) => doc?.count),
    ],
    ['take', 'findAndModify', (on) => on.samples.take('a'), (on) => on.samples.get('a')],
    [
      'denylist.put',
      'update',
      (on) => on.denylist.put([{ id: 'x', reason: 'revoked', expiresAt: noon }]),
      (on) => on.denylist.find(['x']),
    ],
    [
      'lease.replace',
      'insert',
      (on) => on.lease.replace('l', null, { owner: 'o', renewal: 1 }),
      (on) => on.lease.read('l'),
    ],
    [
      'counter.hit',
      'findAndModify',
      (on) => on.counter.hit('k', 1000, 5, noon),
      (on) => on.counter.hit('k', 1000, 5, noon).then(({ count }) => count),
    ],
  ])('%s rejects, was carried out once, and is not sent again', async (...args) => {
    const [, command, call, look] = args
    const { direct, lossy } = await prepared()
    proxy.loseNextAnswer(command)
    await expect(call(lossy)).rejects.toThrow()
    expect(proxy.requests).toBe(1)
    const left: Readonly<Record<string, unknown>> = {
      insert: sample('b'),
      update: 1,
      take: null,
      'denylist.put': [{ id: 'x', reason: 'revoked', expiresAt: noon }],
      'lease.replace': { owner: 'o', renewal: 1 },
      'counter.hit': 2,
    }
    expect(await look(direct)).toEqual(left[args[0]])
  })

  it('a read is asked again, which changes nothing', async () => {
    const { lossy } = await prepared()
    proxy.loseNextAnswer('find')
    expect(await lossy.samples.get('a')).toEqual(sample('a', { expiresAt: noon }))
    expect(proxy.requests).toBe(2)
  })
})
