import { PGlite } from '@electric-sql/pglite'
import { expect, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { sample, sampleSpec } from '../../src/testing/shared/sample.js'
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

it('without the option all is in the schema postern, whatever the search path', async () => {
  const database = await PGlite.create()
  try {
    await database.exec('create schema host; set search_path = host')
    const { store } = postgres(database)
    const spec = sampleSpec('sliding')
    const steps = (await store.plan?.([spec])) ?? []
    expect(steps[0]).toMatchObject({
      name: 'postern/schema',
      statement: 'create schema "postern"',
    })
    await store.prepare([spec])
    expect(await store.plan?.([spec])).toEqual([])
    expect(await store.inspect?.([spec])).toMatchObject([{ problems: [] }])
    expect(await store.collection(spec).insert(sample('a'))).toBe(true)
    const { rows } = await database.query(
      "select distinct schemaname from pg_tables where schemaname !~ '^(pg_|information)'",
    )
    expect(rows).toEqual([{ schemaname: 'postern' }])
  } finally {
    await database.close()
  }
})
