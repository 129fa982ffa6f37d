import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import {
  looseUsers,
  mongoDatabases,
  mongoTitle,
  prepare,
} from '../support/stores/mongo-databases.js'
import { looseSpec as spec } from '../support/stores/postgres-migrations.js'

describe.skipIf(!inject('mongo'))(`${mongoTitle('mongo prepare')} refuses`, () => {
  const { database } = mongoDatabases()
  const level = { level: { kind: 'integer' } } as const

  it.each([
    ['kind', { level: { kind: 'text' } }, '"integer"', '"text"'],
    [
      'nullability',
      { level: { kind: 'integer', nullable: true } },
      '"integer"',
      '"integer or null"',
    ],
  ] as const)('a field of another %s, before it changes anything', async (...args) => {
    const [, changed, was, wanted] = args
    const db = database()
    await prepare(db, [level])
    await expect(prepare(db, [{ ...changed, extra: { kind: 'text' } }])).rejects.toThrow(
      `mongo: "level" of collection "users" was prepared as ${was}, but is now declared as ` +
        `${wanted}; give the field a new name instead`,
    )
    await prepare(db, [level])
  })

  it('the second of two versions that start at once with fields of other kinds', async () => {
    const db = database()
    const starts = await Promise.allSettled([
      prepare(db, [level]),
      prepare(db, [{ level: { kind: 'text' } }]),
    ])
    expect(starts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('a new field without which documents are stored, unless it has a default', async () => {
    const db = database()
    await prepare(db, [{}])
    const users = looseUsers(db, {})
    await users.insert({ id: 'a', expiresAt: null })
    await expect(prepare(db, [level])).rejects.toThrow(
      'mongo: collection "users" holds documents without "level"; declare a default for the ' +
        'field, or make it nullable',
    )
    await prepare(db, [{ level: { kind: 'integer', default: 3 } }])
  })

  it('a unique index that documents already stored would break, without naming a value', async () => {
    const db = database()
    const email = { email: { kind: 'text' } } as const
    await prepare(db, [email])
    const users = looseUsers(db, email)
    for (const id of ['a', 'b']) await users.insert({ id, expiresAt: null, email: 'x@y' })
    const failed = prepare(db, [email, { indexes: [{ on: ['email'], unique: true }] }])
    const error: unknown = await failed.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      message:
        'mongo: documents of collection "users" have the same value where "email_key" must be ' +
        'unique; make them differ and start again',
    })
    expect(error).not.toHaveProperty('cause')
  })

  it('documents that are not of this library', async () => {
    const db = database()
    await db.collection('users').insertOne({ name: 'somebody' })
    await expect(prepare(db, [{}])).rejects.toThrow(
      'mongo: collection "users" holds documents that are not of this library; choose another ' +
        'database, or set the option "prefix"',
    )
    await mongo({ db, prefix: 'auth_' }).store.prepare([spec({})])
  })

  it('an index of its name that is another one, and says how to drop it', async () => {
    const db = database()
    const email = { email: { kind: 'text' } } as const
    await db.collection('users').createIndex({ email: 1 }, { name: 'email_key' })
    const unique = { indexes: [{ on: ['email'], unique: true }] } as const
    await expect(prepare(db, [email, unique])).rejects.toThrow(
      'mongo: index "email_key" of collection "users" is not the one this version needs, on ' +
        'unique (email); drop it with db.users.dropIndex("email_key") and start again',
    )
    await db.collection('users').dropIndex('email_key')
    await db.collection('users').createIndex({ email: 1 }, { name: 'hosts_own', unique: true })
    await prepare(db, [email, unique])
  })

  it('an index that removes documents by the server’s clock', async () => {
    const db = database()
    await db.collection('users').createIndex({ expiresAt: 1 }, { expireAfterSeconds: 1 })
    await expect(prepare(db, [{}, { expires: 'fixed' }])).rejects.toThrow(
      'mongo: index "expiresAt_1" of collection "users" removes documents by the server\'s ' +
        'clock; drop it with db.users.dropIndex("expiresAt_1"), the sweep does its work',
    )
  })

  it.each([
    [{ type: 'view' }, 'is a view'],
    [{ options: { collation: { locale: 'en' } } }, 'was created with the option "collation"'],
    [{ options: { capped: true } }, 'was created with the option "capped"'],
  ])('a collection that is %j', async (info, said) => {
    const db = database()
    const listed = { name: 'users', type: 'collection', ...info }
    // The stand-in keeps no such collections, so its list is written here.
    const told = new Proxy(db, {
      get: (target, property) =>
        property === 'listCollections'
          ? () => ({ toArray: async () => [listed] })
          : Reflect.get(target, property, target),
    })
    await expect(prepare(told, [{}])).rejects.toThrow(
      `mongo: "users" ${said}, with which this library cannot work; move it away, or set the ` +
        'option "prefix"',
    )
  })
})
