import { type CommandStartedEvent, MongoClient } from 'mongodb'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import { addingCounter } from '../../src/testing/shared/adding-counter.js'
import { fill, type Sample, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'

const noon = Date.UTC(2030, 5, 15, 12)
const entry = (id: string) => ({ id, reason: 'revoked', expiresAt: noon }) as const

describe.skipIf(!inject('mongo'))(mongoTitle('mongo statements'), () => {
  const { client, database } = mongoDatabases({ monitorCommands: true })
  let sent: CommandStartedEvent[] = []
  client.on('commandStarted', (event) => sent.push(event))

  /** A prepared backend, and what it sends from then on. */
  async function recorded(expires: 'sliding' | 'fixed' | 'due' = 'sliding') {
    const db = database()
    const { store, ...ports } = mongo({ db })
    const spec = sampleSpec(expires)
    await store.prepare([spec])
    const samples = store.collection(spec)
    await fill(samples, [sample('a'), sample('b', { email: 'taken@example.test' })])
    await fill(samples, [sample('old', { expiresAt: noon })])
    await ports.counter.hit('full', 1000, 1, noon)
    await addingCounter(ports.counter).add('half', 1000, 5, noon, 3)
    await ports.counter.hit('ended', 1000, 1, noon - 5000)
    sent = []
    return { samples, db, store, ...ports }
  }

  type Recorded = Awaited<ReturnType<typeof recorded>>

  const calls: Readonly<Record<string, readonly [number, (on: Recorded) => Promise<unknown>]>> = {
    get: [1, ({ samples }) => samples.get('a')],
    find: [1, ({ samples }) => samples.find({ team: null }, { limit: 10, after: 'a' })],
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
    'denylist.put': [1, ({ denylist }) => denylist.put(['x', 'y', 'x'].map(entry))],
    'denylist.find': [1, ({ denylist }) => denylist.find(['x', 'y'])],
    'lease.read': [1, ({ lease }) => lease.read('sweeper')],
    'lease.replace of nothing': [
      1,
      ({ lease }) => lease.replace('sweeper', null, { owner: 'a', renewal: 1 }),
    ],
    'lease.replace of a record': [
      1,
      ({ lease }) => {
        const seen = { owner: null, renewal: 1 }
        return lease.replace('sweeper', seen, { owner: 'a', renewal: 2 })
      },
    ],
    'counter.hit': [1, ({ counter }) => counter.hit('new', 1000, 5, noon)],
    'counter.add': [1, ({ counter }) => addingCounter(counter).add('new', 1000, 5, noon, 3)],
    'counter.add that fills a window': [
      3,
      async ({ counter }) => addingCounter(counter).add('half', 1000, 5, noon, 3),
    ],
    'counter.hit that is refused': [2, ({ counter }) => counter.hit('full', 1000, 1, noon)],
    'counter.hit after a window ended': [3, ({ counter }) => counter.hit('ended', 1000, 1, noon)],
    'counter.forgive': [1, ({ counter }) => counter.forgive('full', 1)],
    'counter.forgive of all': [1, ({ counter }) => counter.forgive('full')],
    'sweep of nothing': [1, ({ samples }) => samples.sweep(noon - 1, 10)],
    'sweep of all that expired': [2, ({ samples }) => samples.sweep(noon, 10)],
    'sweep of a batch': [3, ({ samples }) => samples.sweep(noon, 1)],
    'denylist.sweep': [1, ({ denylist }) => denylist.sweep(noon, 10)],
    'counter.sweep': [2, ({ counter }) => counter.sweep(noon, 10)],
  }

  it.each(Object.entries(calls))('%s takes this many commands', async (_name, [count, call]) => {
    const on = await recorded()
    await call(on)
    expect(sent.map(({ commandName }) => commandName)).toHaveLength(count)
  })

  it('1,000 documents come with one answer', async () => {
    const { samples } = await recorded()
    const ids = Array.from({ length: 1000 }, (_, at) => `id${at}`)
    await Promise.all(ids.map((id) => samples.insert(sample(id, { team: 'x' }))))
    sent = []
    expect(await samples.find({ team: 'x' }, { limit: 1000 })).toHaveLength(1000)
    await samples.due(noon, 500)
    // A batch beyond the limit closes the cursor; unless told, a MongoDB sends 101 at first.
    expect(sent.map(({ command }) => [command['limit'], command['batchSize']])).toEqual([
      [1000, 1001],
      [500, 501],
    ])
  })

  it('a process that did not prepare the database asks once more, once', async () => {
    const { db } = await recorded()
    const { denylist, lease } = mongo({ db })
    for (let at = 0; at < 3; at++) await denylist.find(['x'])
    await lease.read('sweeper')
    expect(sent.map(({ commandName }) => commandName)).toHaveLength(5)
  })

  it("no command asks for the database's clock, and no index expires", async () => {
    const on = await recorded()
    for (const [, call] of Object.values(calls)) await call(on)
    await on.store.prepare(allCollectionSpecs(''))
    expect(sent.length).toBeGreaterThan(60)
    const clocks = /\$\$NOW|CLUSTER_TIME|\$currentDate|expireAfterSeconds|"\$function"|"\$where"/
    const texts = sent.map(({ command }) => JSON.stringify(command))
    expect(texts.filter((text) => clocks.test(text))).toEqual([])
    const collections = await on.db.listCollections({}, { nameOnly: true }).toArray()
    expect(collections.length).toBeGreaterThan(15)
    for (const { name } of collections) {
      const indexes = await on.db.collection(name).listIndexes().toArray()
      expect(indexes.filter((index) => index.expireAfterSeconds !== undefined)).toEqual([])
    }
  })

  it('operators in values are text like any other', async () => {
    const { samples, denylist, counter } = await recorded()
    const odd = '{"$ne":""}'
    const doc = sample(odd, { team: '$count', realm: '$$ROOT', data: { $ne: { 'a.b': '$where' } } })
    await fill(samples, [doc])
    expect(await samples.get(odd)).toEqual(doc)
    expect(await samples.find({ team: '$count' }, { limit: 9 })).toEqual([doc])
    expect(await samples.update(odd, { realm: { in: ['$$ROOT'] } }, { team: '$set' })).toEqual({
      ...doc,
      team: '$set',
    })
    await counter.hit('$inc.a', 1000, 5, noon)
    expect((await counter.hit('$inc.a', 1000, 5, noon)).count).toBe(2)
    await denylist.put([entry('$or')])
    expect(await denylist.find(['$or', odd])).toEqual([entry('$or')])
    const loose: { get(id: unknown): Promise<unknown> } = samples as never // what a host's bug passes
    for (const id of [{ $ne: '' }, { $gt: '' }, /^a/, ['a'], null]) {
      await expect(loose.get(id)).rejects.toThrow(TypeError)
    }
  })

  describe("whatever the host's client was told", () => {
    const hostile = new MongoClient(inject('mongo')?.url ?? 'mongodb://127.0.0.1:1', {
      monitorCommands: true,
      readPreference: 'secondary',
      readConcernLevel: 'available',
      writeConcern: { w: 0 },
      promoteValues: false,
      promoteLongs: false,
      ignoreUndefined: true,
    })
    afterAll(() => hostile.close())

    it('reads are the primary’s, writes wait for the majority, values are plain', async () => {
      const seen: CommandStartedEvent[] = []
      hostile.on('commandStarted', (event) => seen.push(event))
      const db = hostile.db(database().databaseName)
      const { store, denylist, counter } = mongo({ db })
      const spec = sampleSpec('sliding')
      await store.prepare([spec])
      const samples = store.collection(spec)
      const doc: Sample = sample('a', {
        score: 2 ** 53 - 1,
        seenAt: 1,
        data: [{}],
        expiresAt: noon,
      })
      await fill(samples, [doc])
      expect(await samples.insert(doc)).toBe(false)
      expect(await samples.get('a')).toEqual(doc)
      await denylist.put([entry('x')])
      expect(await denylist.find(['x'])).toEqual([entry('x')])
      expect(await counter.hit('k', 5, 1, noon)).toEqual({
        allowed: true,
        count: 1,
        resetsAt: noon + 5,
      })
      expect(await samples.sweep(noon, 1)).toEqual({ removed: 1, left: 0 })
      const writes = seen.filter(({ command }) => command['writeConcern'] !== undefined)
      const reads = seen.filter(({ command }) => command['readConcern'] !== undefined)
      expect(new Set(writes.map(({ commandName }) => commandName))).toEqual(
        new Set(['create', 'createIndexes', 'insert', 'update', 'findAndModify', 'delete']),
      )
      expect(new Set(writes.map(({ command }) => command['writeConcern'].w))).toEqual(
        new Set(['majority']),
      )
      expect(new Set(reads.map(({ commandName }) => commandName))).toEqual(
        new Set(['find', 'aggregate']),
      )
      expect(new Set(reads.map(({ command }) => command['readConcern'].level))).toEqual(
        new Set(['local']),
      )
      const preferences = seen.map(({ command }) => command['$readPreference']?.mode ?? 'primary')
      expect(new Set(preferences)).toEqual(new Set(['primary']))
    })
  })
})
