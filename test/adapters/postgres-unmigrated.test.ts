import { PGlite } from '@electric-sql/pglite'
import { expect, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { recordingLogger } from '../support/outside/recording-logger.js'

it('a database without tables says what to do, in the log and to whoever calls', async () => {
  const database = await PGlite.create()
  try {
    const backend = postgres(database)
    await expect(backend.denylist.find(['x'])).rejects.toThrow(/auth\.migrate\(\)/)
    const logger = recordingLogger()
    const unprepared = { ...backend, store: { ...backend.store, prepare: async () => {} } }
    await expect(testAuth({ backend: unprepared, logger })).rejects.toThrow(
      /^auth\.migrate: backend\.denylist /,
    )
    expect(JSON.stringify(logger.lines)).toContain('NotMigratedError')
  } finally {
    await database.close()
  }
})
