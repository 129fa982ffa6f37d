import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { recordingLogger } from '../support/outside/recording-logger.js'
import {
  looseUsers,
  mongoDatabases,
  mongoTitle,
  prepare,
} from '../support/stores/mongo-databases.js'

describe.skipIf(!inject('mongo'))(mongoTitle('a database that was not prepared'), () => {
  const { database } = mongoDatabases()

  it('refuses every call and creates nothing, until it is', async () => {
    const db = database()
    const wanted = sampleSpec('sliding')
    const { store, denylist, lease, counter } = mongo({ db })
    const samples = store.collection(wanted)
    const calls = [
      () => samples.insert(sample('a')),
      () => samples.get('a'),
      () => denylist.find(['x']),
      () => lease.replace('l', null, { owner: 'a', renewal: 1 }),
      () => counter.hit('k', 1000, 1, 0),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(/await auth\.migrate\(\)/)
    expect(await db.listCollections().toArray()).toEqual([])
    await mongo({ db }).store.prepare([wanted])
    expect(await samples.insert(sample('a'))).toBe(true)
  })

  it('notices that it was dropped: nothing is found, made or let in until it is prepared again', async () => {
    const db = database()
    const wanted = sampleSpec('sliding')
    const { store, denylist, lease, counter } = mongo({ db })
    const samples = store.collection(wanted)
    await store.prepare([wanted])
    await samples.insert(sample('a'))
    await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
    expect(await denylist.find(['x', 'y'])).toMatchObject([{ id: 'x' }])
    expect(await denylist.sweep(2, 10)).toBe(1)
    expect(await denylist.find(['x', 'y'])).toEqual([])

    await db.dropDatabase()
    const calls = [
      () => denylist.find(['x']),
      () => denylist.put([{ id: 'x', reason: 'revoked' as const, expiresAt: 1 }]),
      () => samples.insert(sample('a')),
      () => samples.get('a'),
      () => lease.read('l'),
      () => counter.hit('k', 1000, 1, 0),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(/await auth\.migrate\(\)/)
    expect(await db.listCollections().toArray()).toEqual([])

    await store.prepare([wanted])
    expect(await denylist.find(['x'])).toEqual([])
    expect(await samples.insert(sample('a'))).toBe(true)
    expect((await lease.read('l')) ?? null).toBeNull()
  })

  it('an entry that was written into a dropped one does not make it look prepared', async () => {
    const db = database()
    const { store, denylist } = mongo({ db })
    await store.prepare([])
    await db.dropDatabase()
    await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
    await expect(denylist.find(['x'])).rejects.toThrow('was dropped, or not prepared')
  })

  it('refuses a version whose indexes it does not have', async () => {
    const db = database()
    const email = { email: { kind: 'text' } } as const
    await prepare(db, [email])
    const users = looseUsers(db, email, { indexes: [{ on: ['email'], unique: true }] })
    await expect(users.insert({ id: 'a', expiresAt: null, email: 'x' })).rejects.toThrow(
      'mongo: collection "users" has not been prepared; await auth.migrate() before serving',
    )
  })

  it('says what to do, in the log and to whoever calls', async () => {
    const backend = mongo({ db: database() })
    const logger = recordingLogger()
    const unprepared = { ...backend, store: { ...backend.store, prepare: async () => {} } }
    await expect(testAuth({ backend: unprepared, logger })).rejects.toThrow(
      /^auth\.migrate: backend\.denylist /,
    )
    expect(JSON.stringify(logger.lines)).toContain('NotMigratedError')
  })
})
