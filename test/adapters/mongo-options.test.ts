import { MongoClient } from 'mongodb'
import { describe, expect, it } from 'vitest'
import { mongo } from '../../adapters/mongo/index.js'
import { sampleSpec } from '../../src/testing/shared/sample.js'

describe('mongo options', () => {
  const db = new MongoClient('mongodb://127.0.0.1:1').db('auth')

  it.each([
    undefined,
    null,
    {},
    { db: null },
    { db: 'auth' },
    { db: new MongoClient('mongodb://x') },
  ])('without a Db it says what it needs (%#)', (options) => {
    expect(() => mongo(options as never)).toThrow(/^mongo: option "db" must be a Db/)
  })

  it.each(['Auth_', 'a-', 'a.b', '$x', '1_', 'x'.repeat(21), 5])(
    'prefix %j is refused by name',
    (prefix) => {
      expect(() => mongo({ db, prefix: prefix as string })).toThrow(
        /^mongo: option "prefix" must be/,
      )
    },
  )

  it.each([{}, { prefix: '' }, { prefix: 'auth_' }])('%j connects to nothing', (options) => {
    mongo({ db, ...options }).store.collection(sampleSpec('sliding'))
  })
})
