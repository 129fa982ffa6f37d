import { describe, expect, it } from 'vitest'
import type { PostgresClient } from '../../adapters/postgres/client.js'
import { postgres } from '../../adapters/postgres/index.js'
import { sampleSpec } from '../../src/testing/shared/sample.js'

const client: PostgresClient = {
  query: async () => {
    throw new Error('nothing may be asked')
  },
}

describe('postgres options', () => {
  it.each(['', 'Auth', 'auth.users', 'a"b', '1st', 'pg_auth', 'ä', 'x'.repeat(64)])(
    'schema %j is refused by name',
    (schema) => {
      expect(() => postgres(client, { schema })).toThrow(/^postgres: option "schema" must be/)
    },
  )

  it.each(['Auth_', 'a-', 'a"b', '1_', 'x'.repeat(21)])(
    'tablePrefix %j is refused by name',
    (tablePrefix) => {
      expect(() => postgres(client, { tablePrefix })).toThrow(
        /^postgres: option "tablePrefix" must be/,
      )
    },
  )

  it.each([{}, { schema: 'auth' }, { tablePrefix: '' }, { tablePrefix: 'auth_', schema: '_a1' }])(
    '%j is accepted and nothing is asked of the database',
    (options) => {
      const { store } = postgres(client, options)
      store.collection(sampleSpec('sliding'))
    },
  )

  it('a table name that Postgres would cut is refused', () => {
    const { store } = postgres(client, { tablePrefix: 'prefix_of_17_chars_' })
    const spec = { ...sampleSpec('never'), name: 'a'.repeat(50) }
    expect(() => store.collection(spec)).toThrow('is longer than a table')
  })
})
