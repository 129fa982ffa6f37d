import { Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { spawnPostgres } from '../support/stores/postgres.js'

const installed = inject('postgresInstalled')

describe.skipIf(!installed)(
  installed
    ? 'a Postgres that goes away'
    : 'a Postgres that goes away (no binaries of Postgres found)',
  () => {
    it('calls reject while it is gone and work again afterwards', async () => {
      const server = await spawnPostgres()
      if (!server) throw new Error('no binaries')
      const pool = new Pool({ connectionString: server.url, max: 2 })
      pool.on('error', () => {}) // an idle connection was cut, which is what this test does
      try {
        const { store, denylist } = postgres(pool)
        const spec = sampleSpec('sliding')
        await store.prepare([spec])
        const samples = store.collection(spec)
        await fill(samples, [sample('a')])
        await server.stop('immediate')
        await expect(samples.get('a')).rejects.toThrow()
        await expect(samples.update('a', { count: 0 }, { count: 1 })).rejects.toThrow()
        await expect(samples.take('a')).rejects.toThrow()
        await expect(denylist.find(['x'])).rejects.toThrow()
        await server.start()
        expect(await samples.get('a')).toEqual(sample('a'))
        expect(await samples.update('a', { count: 0 }, { count: 1 })).toEqual(
          sample('a', { count: 1 }),
        )
      } finally {
        await pool.end()
        await server.remove()
      }
    })
  },
)
