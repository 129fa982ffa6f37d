import { Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import type { PostgresClient } from '../../adapters/postgres/client.js'
import { postgres } from '../../adapters/postgres/index.js'
import type { Logger } from '../../src/ports/host.js'
import { fill, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'
import { pgbouncer, startPooler } from './pgbouncer.js'

const url = inject('postgresUrl')
const title = url ? 'postgres named statements' : 'postgres named statements (Postgres not found)'
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const spec = sampleSpec('sliding')

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)

  /** A pool of one connection, so that what it prepared can be asked for. */
  async function onOne(wrap: (one: Pool) => PostgresClient, options = {}) {
    const one = new Pool({ connectionString: url ?? '', max: 1 })
    const names = async (): Promise<readonly string[]> => {
      const { rows } = await one.query('select name, statement from pg_prepared_statements')
      return rows.map((row) => `${row.name} ${row.statement}`)
    }
    const name = schema()
    const backend = postgres(wrap(one), { schema: name, ...options })
    await backend.store.prepare([spec])
    const samples = backend.store.collection(spec)
    await fill(samples, [sample('a'), sample('b')])
    return { ...backend, samples, names, one, [Symbol.asyncDispose]: () => one.end() }
  }

  const calls = async ({ samples, denylist, counter }: Awaited<ReturnType<typeof onOne>>) => {
    await samples.get('a')
    await samples.find({ team: null }, { limit: 3 })
    await samples.find({ team: null }, { limit: 30 })
    await samples.insert(sample('c'))
    await samples.update('a', { count: 0 }, { count: 1 })
    await samples.take('c')
    await denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
    await denylist.find(['x'])
    await denylist.find(['x', 'y'])
    await counter.hit('k', 1000, 5, 0)
    await counter.forgive('k', 1)
  }
  const upkeep = async ({ samples, denylist, counter }: Awaited<ReturnType<typeof onOne>>) => {
    await samples.sweep(1, 10)
    await denylist.sweep(1, 10)
    await counter.sweep(1, 10)
  }

  it('a Pool prepares what requests send, once each, and nothing of sweeps and migrations', async () => {
    await using on = await onOne((one) => one)
    await calls(on)
    const prepared = await on.names()
    expect(prepared.every((name) => /^postern_[0-9a-f]{40} /.test(name))).toBe(true)
    const verbs = prepared.map((name) => name.split(' ')[1]).sort()
    // Two inserts of upserts and one of a document; get, a page of any size, and the denylist's.
    expect(verbs).toEqual([
      'delete',
      'insert',
      'insert',
      'insert',
      'select',
      'select',
      'select',
      'update',
      'update',
    ])
    await calls(on)
    await upkeep(on)
    expect(await on.names()).toEqual(prepared)
  })

  it.each<[string, (one: Pool) => PostgresClient, { statements?: 'named' | 'unnamed' }]>([
    ['a Pool with the option "unnamed"', (one) => one, { statements: 'unnamed' }],
    [
      'an object around a Pool',
      (one) => ({ query: (text, values) => one.query(text, values) }),
      {},
    ],
  ])('%s prepares nothing', async (_name, wrap, options) => {
    await using on = await onOne(wrap, options)
    await calls(on)
    expect(await on.names()).toEqual([])
  })

  it('an object around a Pool prepares where the host says so', async () => {
    const wrap = (one: Pool): PostgresClient => ({
      query: (text, values) => one.query(text, values),
    })
    await using on = await onOne(wrap, { statements: 'named' })
    await calls(on)
    expect(await on.names()).toHaveLength(9)
  })

  it('10,000 different guards prepare at most 200 statements, and all of them work', async () => {
    await using on = await onOne((one) => one)
    const { counter } = on
    await counter.hit('k', 1000, 5, 0)
    // Of so many fields, each choice of conditions is a text of its own.
    const fields = ['email', 'handle', 'team', 'realm', 'count', 'score', 'enabled'] as const
    const whole = await on.samples.get('a')
    if (!whole) throw new Error('a is missing')
    for (let round = 0; round < 10_000; round++) {
      const chosen = fields.filter((_, at) => at === 0 || (round >> at) % 2 === 1)
      const guard = Object.fromEntries(chosen.map((field) => [field, whole[field]]))
      const set = {
        count: whole.count,
        ...(round % 256 > 127 && { data: {} }),
        ...(round % 512 > 255 && { seenAt: 5 }),
      }
      if (round % 40 === 0) expect(await on.samples.update('a', guard, set)).not.toBeNull()
      else await on.samples.update('a', guard, set)
    }
    expect((await on.names()).length).toBe(200)
    expect((await counter.hit('k', 1000, 5, 0)).count).toBe(2)
  }, 60_000)

  it('what a connection forgot is sent once more, and each write happens once', async () => {
    await using on = await onOne((one) => one)
    on.one.on('error', () => {})
    for (let count = 1; count <= 2; count++) {
      await on.counter.hit('k', 1000, 50, 0)
      await on.one.query('deallocate all')
    }
    expect((await on.counter.hit('k', 1000, 50, 0)).count).toBe(3)
  })

  it('three refusals of 10,000: all go without names, and one warning says why', async () => {
    await using on = await onOne((one) => one)
    const warnings: string[] = []
    on.useLogger?.({ ...silent, warn: (message) => warnings.push(message) })
    on.one.on('error', () => {})
    for (let count = 1; count <= 6; count++) {
      await on.counter.hit('k', 1000, 50, 0)
      await on.one.query('deallocate all')
    }
    expect((await on.counter.hit('k', 1000, 50, 0)).count).toBe(7)
    expect(await on.names()).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('statements to "unnamed"')])
  })

  it('two refusals are forgotten after 10,000 statements', async () => {
    await using on = await onOne((one) => one)
    on.one.on('error', () => {})
    const refuse = async () => {
      await on.counter.hit('k', 1000, 50, 0)
      await on.one.query('deallocate all')
      await on.counter.hit('k', 1000, 50, 0)
    }
    await refuse()
    await refuse()
    for (let sent = 0; sent < 10_000; sent++) await on.samples.get('a')
    await refuse()
    await on.samples.get('a')
    expect(await on.names()).toHaveLength(1)
  }, 60_000)

  it('a kept plan whose columns changed type is planned anew', async () => {
    await using on = await onOne((one) => one)
    on.one.on('error', () => {})
    const table = (await on.names()).join('\n').match(/"case_\w+"\."\w+"/)?.[0]
    expect(await on.samples.get('a')).not.toBeNull()
    await pool.query(`alter table ${table} alter column realm type varchar(200)`)
    expect(await on.samples.get('a')).not.toBeNull()
    await pool.query(`alter table ${table} alter column realm type text`)
    expect(await on.samples.update('a', { count: 0 }, { count: 1 })).not.toBeNull()
  })

  it('plans that know no value use the same indexes', async () => {
    const name = schema()
    await using on = await onOne((one) => one, { schema: name })
    const table = `"${name}"."${spec.name}"`
    await pool.query(
      `insert into ${table} (id, email, realm, handle, team, enabled, count, born_at, data, expires_at)
       select 'id' || n, 'mail' || n, 'main', 'handle' || n, 'team' || (n % 50), n % 2 = 0,
         n % 1000, timestamptz 'epoch', '{}', timestamptz '2030-01-01' + n * interval '1 hour'
       from generate_series(1, 20000) as n`,
    )
    await pool.query(`analyze ${table}`)
    await on.samples.get('id7')
    await on.samples.find({ team: 'team7' }, { limit: 20, after: 'id5' })
    await on.samples.find({ email: 'mail7' }, { limit: 1 })
    await on.samples.update('id7', { realm: 'main' }, { count: 7 })
    await on.samples.take('id7', { count: { in: [8, 9] } })
    await on.one.query('set plan_cache_mode = force_generic_plan')
    const plans: string[] = []
    const { rows } = await on.one.query(
      'select name, cardinality(parameter_types) as parameters, statement from pg_prepared_statements',
    )
    for (const { name: prepared, parameters, statement } of rows) {
      if (String(statement).startsWith('insert')) continue
      const nulls = Array(parameters).fill('null').join(', ')
      const plan = await on.one.query(`explain (costs off) execute "${prepared}"(${nulls})`)
      plans.push(plan.rows.map((row) => row['QUERY PLAN']).join('\n'))
    }
    expect(plans).toHaveLength(5)
    for (const plan of plans) {
      expect(plan).not.toMatch(/Seq Scan/)
      // At most one document has a unique value; the order of one row costs nothing.
      if (!plan.includes('_email_key')) expect(plan).not.toMatch(/Sort/)
    }
    const used = plans.map((plan) => plan.match(/_pkey|_team_idx|_email_key/)?.[0]).sort()
    expect(used).toEqual(['_email_key', '_pkey', '_pkey', '_pkey', '_team_idx'])
  })

  describe.skipIf(!pgbouncer)(pgbouncer ? 'PgBouncer' : 'PgBouncer (not found)', () => {
    it('in transaction mode: each of 401 parallel writes happens once', async () => {
      const pooler = await startPooler(pgbouncer ?? '', new URL(url ?? ''), 5)
      const clients = new Pool({ connectionString: pooler.url, max: 12 })
      clients.on('error', () => {})
      try {
        const { store, counter } = postgres(clients, { schema: schema() })
        await store.prepare([spec])
        const samples = store.collection(spec)
        await fill(samples, [sample('a')])
        await Promise.all(
          Array.from({ length: 20 }, async (_, at) => {
            for (let round = 0; round < 10; round++) {
              await counter.hit('k', 1000, 1000, 0)
              expect(await samples.insert(sample(`${at}-${round}`))).toBe(true)
            }
          }),
        )
        expect((await counter.hit('k', 1000, 1000, 0)).count).toBe(201)
        expect(await samples.find({ team: null }, { limit: 500 })).toHaveLength(201)
      } finally {
        await clients.end()
        await pooler.stop()
      }
    })
  })
})
