import { MongoClient } from 'mongodb'
import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { spawnMongo } from '../support/stores/mongo.js'
import { mongoTitle } from '../support/stores/mongo-databases.js'

describe.skipIf(!inject('mongo'))(mongoTitle('a MongoDB that goes away'), () => {
  it('calls reject while it is gone and work again afterwards', async () => {
    const server = await spawnMongo()
    if (!server) throw new Error('this needs a mongod, or a JDK and Maven')
    const client = new MongoClient(server.url, { serverSelectionTimeoutMS: 500 })
    try {
      const { store, denylist, lease, counter } = mongo({ db: client.db('auth') })
      const spec = sampleSpec('sliding')
      await store.prepare([spec])
      const samples = store.collection(spec)
      await fill(samples, [sample('a')])
      await server.kill()
      await expect(samples.get('a')).rejects.toThrow()
      await expect(samples.insert(sample('b'))).rejects.toThrow()
      await expect(samples.update('a', { count: 0 }, { count: 1 })).rejects.toThrow()
      await expect(samples.take('a')).rejects.toThrow()
      await expect(denylist.find(['x'])).rejects.toThrow()
      await expect(lease.read('x')).rejects.toThrow()
      await expect(counter.hit('x', 1000, 1, 0)).rejects.toThrow()
      await server.start()
      await store.prepare([spec])
      // The stand-in has forgotten everything; a mongod has not.
      await samples.take('a')
      await fill(samples, [sample('a')])
      expect(await samples.get('a')).toEqual(sample('a'))
    } finally {
      await client.close()
      await server.remove()
    }
  })
})
