import type { Db } from 'mongodb'
import { describe, expect, inject, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { mongoDatabases, mongoTitle } from '../support/stores/mongo-databases.js'

const noon = Date.UTC(2030, 5, 15, 12)

/** What a MongoDB answers to one of two upserts that insert at the same moment. */
function duplicate(): Error {
  return Object.assign(new Error('E11000 duplicate key error'), { code: 11000 })
}

/** A database whose collections refuse the first `times` calls of `method` as duplicates. */
function refusing(
  db: Db,
  method: string,
  times: number,
): { readonly db: Db; readonly calls: number } {
  const told = { db, calls: 0 }
  const wrap = <T extends object>(
    target: T,
    inside: (name: string, value: unknown) => unknown,
  ): T =>
    new Proxy(target, {
      get: (_, property) => inside(String(property), Reflect.get(target, property, target)),
    })
  const collectionOf = (collection: object) =>
    wrap(collection, (name, value) => {
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name !== method) return Reflect.apply(value, collection, args)
        told.calls += 1
        return told.calls > times
          ? Reflect.apply(value, collection, args)
          : Promise.reject(duplicate())
      }
    })
  told.db = wrap(db, (name, value) => {
    if (name !== 'collection' || typeof value !== 'function') return value
    return (...args: unknown[]) => collectionOf(Reflect.apply(value, db, args))
  })
  return told
}

describe.skipIf(!inject('mongo'))(mongoTitle('mongo, two upserts of one id at once'), () => {
  const { database } = mongoDatabases()
  const entry = { id: 'x', reason: 'revoked', expiresAt: noon } as const

  async function prepared() {
    const db = database()
    await mongo({ db }).store.prepare([])
    await mongo({ db }).denylist.put([entry])
    await mongo({ db }).counter.hit('k', 1000, 9, noon)
    return db
  }

  it('an entry refused as a duplicate is put after all', async () => {
    const puts = refusing(await prepared(), 'bulkWrite', 2)
    const { denylist } = mongo({ db: puts.db })
    const later = { ...entry, expiresAt: noon + 1 }
    await denylist.put([later])
    expect(await denylist.find(['x'])).toEqual([later])
    expect(puts.calls).toBe(3)
  })

  it('a hit refused as a duplicate is counted after all, once', async () => {
    const { db } = refusing(await prepared(), 'findOneAndUpdate', 1)
    expect((await mongo({ db }).counter.hit('k', 1000, 9, noon)).count).toBe(2)
  })

  it('neither is tried for ever', async () => {
    const db = await prepared()
    const puts = refusing(db, 'bulkWrite', Number.POSITIVE_INFINITY)
    await expect(mongo({ db: puts.db }).denylist.put([entry])).rejects.toMatchObject({
      code: 11000,
    })
    expect(puts.calls).toBe(10)
  })
})
