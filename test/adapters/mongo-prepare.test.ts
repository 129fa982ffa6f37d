import { type CommandStartedEvent, MongoClient } from 'mongodb'
import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { mongoDatabases, mongoTitle, prepare } from '../support/stores/mongo-databases.js'
import { looseSpec as spec } from '../support/stores/postgres-migrations.js'

const server = inject('mongo')

describe.skipIf(!server)(mongoTitle('mongo prepare'), () => {
  const { client, database } = mongoDatabases({ monitorCommands: true })

  it('twenty replicas may start at once, of two versions', async () => {
    const db = database()
    const early = spec({ email: { kind: 'text' } })
    const late = spec(
      { email: { kind: 'text' }, level: { kind: 'integer', default: 1 } },
      { indexes: [{ on: ['level'] }, { on: ['email'], unique: true }] },
    )
    const samples = sampleSpec('sliding')
    const clients = Array.from({ length: 20 }, () => new MongoClient(server?.url ?? ''))
    try {
      await Promise.all(
        clients.map((own, replica) => {
          const { store } = mongo({ db: own.db(db.databaseName) })
          return store.prepare([replica % 2 ? early : late, samples])
        }),
      )
    } finally {
      await Promise.all(clients.map((own) => own.close()))
    }
    const indexes = await db.collection('users').listIndexes().toArray()
    expect(indexes.map(({ name }) => name).sort()).toEqual(['_id_', 'email_key', 'level_idx'])
    const users = mongo({ db }).store.collection(samples)
    await fill(users, [sample('a')])
    expect(await users.insert(sample('b', { email: sample('a').email }))).toBe(false)
  })

  it('a start with nothing to do only reads', async () => {
    const db = database()
    const specs = [sampleSpec('sliding'), sampleSpec('fixed')]
    await mongo({ db }).store.prepare(specs)
    const sent: CommandStartedEvent[] = []
    const listen = (event: CommandStartedEvent) => sent.push(event)
    client.on('commandStarted', listen)
    await mongo({ db }).store.prepare(specs)
    client.off('commandStarted', listen)
    const names = new Set(sent.map(({ commandName }) => commandName))
    expect(names).toEqual(new Set(['find', 'listCollections', 'listIndexes']))
  })

  it('indexes that pages are read by end in _id, unique ones do not', async () => {
    const db = database()
    const wanted = sampleSpec('sliding')
    await mongo({ db }).store.prepare([wanted])
    const indexes = await db.collection(wanted.name).listIndexes().toArray()
    expect(indexes.map(({ name, key, unique }) => [name, Object.keys(key), unique])).toEqual([
      ['_id_', ['_id'], undefined],
      ['email_key', ['email'], true],
      ['realm_handle_key', ['realm', 'handle'], true],
      ['team_idx', ['team', '_id'], undefined],
      ['enabled_count_idx', ['enabled', 'count', '_id'], undefined],
      ['expiresAt_idx', ['expiresAt', '_id'], undefined],
    ])
  })

  it('an index somebody dropped is made again, one of a host’s own is left alone', async () => {
    const db = database()
    const unique = [{}, { indexes: [{ on: ['expiresAt'] }], expires: 'due' }] as const
    await prepare(db, [...unique])
    await db.collection('users').dropIndex('expiresAt_idx')
    await db.collection('users').createIndex({ shoeSize: 1 }, { name: 'own', unique: true })
    await prepare(db, [...unique])
    const indexes = await db.collection('users').listIndexes().toArray()
    expect(indexes.map(({ name }) => name).sort()).toEqual(['_id_', 'expiresAt_idx', 'own'])
  })

  it('an index that the spec calls retired is dropped, one of a host’s own on the same fields is not', async () => {
    const db = database()
    const fields = { email: { kind: 'text' }, level: { kind: 'integer' } } as const
    await prepare(db, [fields, { indexes: [{ on: ['email'] }, { on: ['email', 'level'] }] }])
    const names = async () => {
      const indexes = await db.collection('users').listIndexes().toArray()
      return indexes.map(({ name }) => name).sort()
    }
    expect(await names()).toEqual(['_id_', 'email_idx', 'email_level_idx'])
    const later = [
      fields,
      { indexes: [{ on: ['email'] }], retiredIndexes: [{ on: ['email', 'level'] }] },
    ] as const
    await prepare(db, [...later])
    expect(await names()).toEqual(['_id_', 'email_idx'])
    await db.collection('users').createIndex({ email: 1, level: 1, _id: 1 }, { name: 'own' })
    await prepare(db, [...later])
    expect(await names()).toEqual(['_id_', 'email_idx', 'own'])
  })

  it('a prefix keeps two libraries in one database apart', async () => {
    const db = database()
    const wanted = sampleSpec('fixed')
    for (const prefix of ['a_', 'b_']) {
      const { store } = mongo({ db, prefix })
      await store.prepare([wanted])
      expect(await store.collection(wanted).insert(sample('x'))).toBe(true)
    }
    const names = (await db.listCollections().toArray()).map(({ name }) => name)
    expect(names.filter((name) => !/^[ab]_/.test(name))).toEqual([])
  })

  it('a reserved name is refused', async () => {
    const reserved = { ...sampleSpec('fixed'), name: 'postern_own' }
    await expect(mongo({ db: database() }).store.prepare([reserved])).rejects.toThrow(
      'mongo: "postern_own": "postern_" is reserved',
    )
  })
})
