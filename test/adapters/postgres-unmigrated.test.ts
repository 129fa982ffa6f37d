import { PGlite } from '@electric-sql/pglite'
import { expect, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { testAuth } from '../support/test-auth.js'

it('a database without tables says what to do, in the log and to whoever calls', async () => {
  const database = await PGlite.create()
  try {
    const backend = postgres(database)
    await expect(backend.denylist.find(['x'])).rejects.toThrow(/auth\.migrate\(\)/)
    const { auth, logger } = await testAuth({
      backend: { ...backend, store: { ...backend.store, prepare: async () => {} } },
    })
    await expect(auth.client.users.findByEmail('a@example.org')).rejects.toMatchObject({
      code: 'service_unavailable',
    })
    expect(JSON.stringify(logger.lines)).toContain('NotMigratedError')
  } finally {
    await database.close()
  }
})
