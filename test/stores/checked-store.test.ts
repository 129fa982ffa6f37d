import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { sqlite } from '../../adapters/sqlite/index.js'
import type { AnyCollectionSpec, Collection, Doc, Store } from '../../src/ports/store.js'
import { checkedStore } from '../../src/stores/checked-store.js'
import { storeCases } from '../../src/testing/index.js'

/** Reports a refusal by the inner store as what it is here: a call that should not have come. */
function reached(error: unknown): never {
  throw new Error('the store was called', { cause: error })
}

function trusting<T extends Doc>(inner: Collection<T>): Collection<T> {
  const { many } = inner
  return {
    get: (id) => inner.get(id).catch(reached),
    find: (equal, page) => inner.find(equal, page).catch(reached),
    insert: (doc) => inner.insert(doc).catch(reached),
    update: (id, guard, set) => inner.update(id, guard, set).catch(reached),
    take: (id, guard) => inner.take(id, guard).catch(reached),
    due: (before, limit) => inner.due(before, limit).catch(reached),
    sweep: (before, limit) => inner.sweep(before, limit).catch(reached),
    ...(many && {
      many: {
        find: (field, values) => many.find(field, values).catch(reached),
        insert: (docs) => many.insert(docs).catch(reached),
        update: (ids, guard, set) => many.update(ids, guard, set).catch(reached),
      },
    }),
  }
}

function trustingStore(): Store {
  const { store } = sqlite(new DatabaseSync(':memory:'))
  return {
    collection: (spec) => trusting(store.collection(spec)),
    prepare: (specs) => store.prepare(specs).catch(reached),
  }
}

describe('checkedStore keeps from a store what the port says must be refused', () => {
  const make = async () => ({ ...memory(), store: checkedStore(trustingStore()) })
  for (const { name, run } of storeCases(make)) test(name, run)

  test('ids a database cannot hold and due dates that are none', async () => {
    const { collection } = checkedStore(trustingStore())
    const things: Collection<Doc> = collection({
      name: 'things',
      fields: {},
      indexes: [],
      expires: 'never',
    })
    await expect(things.update('\0', { id: 'a' }, { expiresAt: null })).rejects.toThrow(TypeError)
    await expect(things.take('\ud800')).rejects.toThrow(TypeError)
    await expect(things.due(Number.NaN, 1)).rejects.toThrow(TypeError)
    await expect(things.due(1, 0)).rejects.toThrow(TypeError)
  })

  const spec: AnyCollectionSpec = {
    name: 'things',
    fields: { name: { kind: 'text' } },
    indexes: [],
    expires: 'never',
  }

  test.each<readonly [string, AnyCollectionSpec]>([
    [
      "a name that is no plain word, such as another's table",
      { ...spec, name: 'a"; drop table b' },
    ],
    ["a field's name that is none", { ...spec, fields: { 'a b': { kind: 'text' } } }],
    ['an index on an undeclared field', { ...spec, indexes: [{ on: ['email'] }] }],
    ['a default of another kind', { ...spec, fields: { n: { kind: 'integer', default: '1' } } }],
  ])('%s', async (_what, wrong) => {
    const calls: string[] = []
    const store = checkedStore({
      collection: () => expect.unreachable('collection was called'),
      prepare: async () => void calls.push('prepare'),
    })
    await expect(store.prepare([wrong])).rejects.toThrow(TypeError)
    const loose: { collection(spec: AnyCollectionSpec): unknown } = store
    expect(() => loose.collection(wrong)).toThrow(TypeError)
    expect(calls).toEqual([])
  })
})
