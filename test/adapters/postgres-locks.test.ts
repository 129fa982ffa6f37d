import type { Client } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { onDatabase } from '../support/stores/postgres.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'

const url = inject('postgresUrl')
const title = url ? 'postgres locks' : 'postgres locks (Postgres not found)'
const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)

  async function prepared(expires: 'sliding' | 'fixed' = 'sliding') {
    const name = schema()
    const backend = postgres(pool, { schema: name })
    const spec = sampleSpec(expires)
    await backend.store.prepare([spec])
    return {
      backend,
      samples: backend.store.collection(spec),
      table: `${name}.${spec.name}`,
      /** The same tables through another connection. */
      on: (client: Client) => {
        const other = postgres(client, { schema: name })
        return { ...other, samples: other.store.collection(spec) }
      },
    }
  }

  /** Resolves once some session of this database waits for a lock. */
  async function somebodyWaits(): Promise<void> {
    for (;;) {
      const { rows } = await pool.query(
        `select from pg_locks join pg_stat_activity using (pid)
         where not granted and datname = current_database()`,
      )
      if (rows.length > 0) return
    }
  }

  it('sweep passes over a document that is just being renewed', async () => {
    const { samples, on } = await prepared()
    await fill(samples, [sample('a', { expiresAt: noon }), sample('b', { expiresAt: noon })])
    await onDatabase(url ?? '', async (client) => {
      await client.query('begin')
      await on(client).samples.update('a', { expiresAt: noon }, { expiresAt: noon + 1 })
      // Would wait for the renewal for ever if it did not skip the row.
      expect(await samples.sweep(noon, 10)).toEqual({ removed: 1, left: 1 })
      await client.query('commit')
    })
    expect(await samples.sweep(noon, 10)).toEqual({ removed: 0, left: 0 })
    expect(await samples.get('a')).toEqual(sample('a', { expiresAt: noon + 1 }))
  })

  it('an update that waited judges its guard anew', async () => {
    const { samples, on } = await prepared()
    await fill(samples, [sample('a')])
    await onDatabase(url ?? '', async (client) => {
      await client.query('begin')
      await on(client).samples.update('a', { count: 0 }, { count: 1 })
      const waiting = samples.update('a', { count: 0 }, { count: 2 })
      const holding = samples.update('a', { enabled: true }, { score: 7 })
      await somebodyWaits()
      await client.query('commit')
      expect(await waiting).toBe(null)
      expect(await holding).toEqual(sample('a', { count: 1, score: 7 }))
    })
  })

  it('a hit that waited counts on from the hit before it', async () => {
    const { backend, on } = await prepared()
    await onDatabase(url ?? '', async (client) => {
      await client.query('begin')
      await on(client).counter.hit('k', 1000, 1, noon)
      const waiting = backend.counter.hit('k', 1000, 1, noon + 5)
      await somebodyWaits()
      await client.query('commit')
      expect(await waiting).toEqual({ allowed: false, count: 1, resetsAt: noon + 1000 })
    })
  })

  it('an insert that waited for a rolled-back one succeeds', async () => {
    const { samples, on } = await prepared()
    await onDatabase(url ?? '', async (client) => {
      await client.query('begin')
      await on(client).samples.insert(sample('a'))
      const waiting = samples.insert(sample('b', { email: sample('a').email }))
      await somebodyWaits()
      await client.query('rollback')
      expect(await waiting).toBe(true)
    })
  })

  it("a unique index of the host's own answers null as well", async () => {
    const { samples, table } = await prepared()
    await pool.query(`create unique index on ${table} (lower(email))`)
    await fill(samples, [sample('a'), sample('b')])
    expect(await samples.update('b', { count: 0 }, { email: 'A@EXAMPLE.TEST' })).toBeNull()
    expect(await samples.insert(sample('c', { email: 'B@example.test' }))).toBe(false)
  })

  it("a host's foreign key decides whether a document can be taken", async () => {
    const { samples, table } = await prepared()
    await fill(samples, [sample('a')])
    await pool.query(`create table ${table}_posts (author text references ${table} (id))`)
    await pool.query(`insert into ${table}_posts values ('a')`)
    await expect(samples.take('a')).rejects.toMatchObject({ code: '23503' })
    expect(await samples.get('a')).toEqual(sample('a'))
    await pool.query(
      `alter table ${table}_posts drop constraint "${table.split('.')[1]}_posts_author_fkey",
       add foreign key (author) references ${table} (id) on delete set null`,
    )
    expect(await samples.take('a')).toEqual(sample('a'))
  })

  it('a statement the server cancelled rejects', async () => {
    const { samples, on } = await prepared()
    await fill(samples, [sample('a')])
    await onDatabase(url ?? '', async (client) => {
      await client.query('begin')
      await on(client).samples.update('a', { count: 0 }, { count: 1 })
      await onDatabase(url ?? '', async (hasty) => {
        await hasty.query("set lock_timeout = '20ms'")
        const update = on(hasty).samples.update('a', { count: 0 }, { count: 2 })
        await expect(update).rejects.toMatchObject({ code: '55P03' })
      })
      await client.query('rollback')
    })
    expect(await samples.get('a')).toEqual(sample('a'))
  })
})
