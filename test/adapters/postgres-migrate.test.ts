import { type Client, Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { onDatabase } from '../support/stores/postgres.js'
import { migrations, looseSpec as spec } from '../support/stores/postgres-migrations.js'
import { optionsOf, schemasOf } from '../support/stores/postgres-schemas.js'
import { recordingClient } from '../support/stores/recording-client.js'

const url = inject('postgresUrl')
const title = url ? 'postgres migrations' : 'postgres migrations (Postgres not found)'

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)
  const { prepare, journal } = migrations(pool)
  /** Runs `start` on so many connections at once, each a replica's own. */
  const replicas = async (
    count: number,
    settings: Readonly<Record<string, string>>,
    start: (own: Pool, replica: number) => Promise<void>,
  ) => {
    const pools = Array.from({ length: count }, () => {
      return new Pool({ connectionString: url ?? '', max: 1, options: optionsOf(settings) })
    })
    try {
      await Promise.all(pools.map(start))
    } finally {
      await Promise.all(pools.map((own) => own.end()))
    }
  }

  it('only the counters may be lost when the server crashes', async () => {
    const name = schema()
    await prepare(name, sampleSpec('sliding'))
    const { rows } = await pool.query(
      `select relname, relpersistence from pg_class join pg_namespace n on n.oid = relnamespace
       where nspname = $1 and relkind = 'r' and relpersistence <> 'p'`,
      [name],
    )
    expect(rows).toEqual([{ relname: 'postern_counters', relpersistence: 'u' }])
  })

  it('a plan says how many rows have to wait for which step', async () => {
    const name = schema()
    const early = spec({ note: { kind: 'text' }, level: { kind: 'integer' } })
    const { store } = postgres(pool, { schema: name })
    expect((await store.plan?.([early]))?.every(({ blocks }) => blocks === 0)).toBe(true)
    await prepare(name, early)
    await pool.query(
      `insert into ${name}.users (id, note, level) select n::text, '', 0 from generate_series(1, 5000) n`,
    )
    await pool.query(`analyze ${name}.users`)
    const late = spec(
      { ...early.fields, kind: { kind: 'text', default: 'x' } },
      { indexes: [{ on: ['note'] }] },
    )
    const plan = (await store.plan?.([late])) ?? []
    expect(plan.map((step) => [step.name, step.blocks])).toEqual([
      ['users/column/kind', 0],
      ['users/index/note', 5000],
    ])
    expect(plan[1]?.statement).toContain(`on "${name}"."users" ("note", "id")`)
  })

  it('a plan needs no right but to read', async () => {
    const name = schema()
    const samples = sampleSpec('sliding')
    await prepare(name, samples)
    const reader = new Pool({
      connectionString: url ?? '',
      options: optionsOf({ default_transaction_read_only: 'on' }),
    })
    try {
      const plan = postgres(reader, { schema: name }).store.plan?.([samples])
      expect(await plan).toEqual([])
    } finally {
      await reader.end()
    }
  })

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'twenty replicas that start at once do each step once, at %s',
    async (isolation) => {
      const name = schema()
      const settings = { default_transaction_isolation: isolation }
      const specs = [sampleSpec('sliding'), sampleSpec('due'), sampleSpec('never')]
      await replicas(20, settings, (own) => postgres(own, { schema: name }).store.prepare(specs))
      const steps = await journal(name)
      expect(new Set(steps).size).toBe(steps.length)
      for (const each of specs) {
        const samples = postgres(pool, { schema: name }).store.collection(each)
        expect(await samples.insert(sample('a'))).toBe(true)
        expect(await samples.insert(sample('b', { email: sample('a').email }))).toBe(false)
      }
    },
  )

  it('replicas of two versions may start at once', async () => {
    const name = schema()
    const early = spec({ email: { kind: 'text' } })
    const late = spec(
      { email: { kind: 'text' }, level: { kind: 'integer', default: 1 } },
      { indexes: [{ on: ['level'] }] },
    )
    await replicas(20, {}, (own, replica) => {
      return postgres(own, { schema: name }).store.prepare([replica % 2 ? early : late])
    })
    const steps = await journal(name)
    expect(steps.filter((step) => step.startsWith('users/')).sort()).toEqual([
      'users/column/email',
      'users/column/id',
      'users/column/level',
      'users/index/level',
      'users/table',
    ])
    await pool.query(`select level from ${name}.users`)
  })

  it('a start with nothing to do changes nothing and creates nothing', async () => {
    const name = schema()
    const specs = [sampleSpec('sliding'), sampleSpec('fixed')]
    await prepare(name, ...specs)
    const before = await journal(name)
    const { client, sent } = recordingClient(pool)
    await postgres(client, { schema: name }).store.prepare(specs)
    expect(await journal(name)).toEqual(before)
    expect(sent.map(({ text }) => text.slice(0, 6))).toEqual(['do $po', 'select', 'select'])
  })

  it('tables have typed, snake-case columns that a host can read', async () => {
    const name = schema()
    const { name: table, ...rest } = sampleSpec('sliding')
    await prepare(name, { ...rest, name: table })
    const { rows } = await pool.query(
      `select column_name, data_type, datetime_precision, is_nullable, collation_name
       from information_schema.columns where table_schema = $1 and table_name = $2
       order by column_name`,
      [name, table],
    )
    const columns = rows.map((row) => [row.column_name, row.data_type, row.is_nullable])
    expect(columns).toEqual([
      ['_expires_day', 'date', 'YES'],
      ['born_at', 'timestamp with time zone', 'NO'],
      ['count', 'bigint', 'NO'],
      ['data', 'jsonb', 'NO'],
      ['email', 'text', 'NO'],
      ['enabled', 'boolean', 'NO'],
      ['expires_at', 'timestamp with time zone', 'YES'],
      ['handle', 'text', 'NO'],
      ['id', 'text', 'NO'],
      ['note', 'text', 'YES'],
      ['realm', 'text', 'NO'],
      ['score', 'bigint', 'YES'],
      ['seen_at', 'timestamp with time zone', 'YES'],
      ['team', 'text', 'YES'],
    ])
    const precise = rows.filter(
      (row) => row.datetime_precision !== null && row.data_type !== 'date',
    )
    expect(precise.map((row) => row.datetime_precision)).toEqual([3, 3, 3])
    expect(rows.find((row) => row.column_name === 'id').collation_name).toBe('C')
  })

  it('the default of a field stands in for it in rows a host or an old replica writes', async () => {
    const name = schema()
    const text = "it's $1, $postern$ and \\ 😀"
    await prepare(
      name,
      spec({
        note: { kind: 'text', default: text },
        level: { kind: 'integer', default: -7 },
        active: { kind: 'boolean', default: false },
        since: { kind: 'time', default: 1_234_567_890_123 },
        data: { kind: 'json', default: { text } },
      }),
    )
    await pool.query(`insert into ${name}.users (id) values ('a')`)
    const { rows } = await pool.query(
      `select note, level::int, active, extract(epoch from since)::text as since, data
       from ${name}.users`,
    )
    const since = '1234567890.123000'
    expect(rows).toEqual([{ note: text, level: -7, active: false, since, data: { text } }])
  })

  it('never drops what an older or a newer version made', async () => {
    const name = schema()
    const indexed = { indexes: [{ on: ['email'], unique: true }] } as const
    await prepare(name, spec({ email: { kind: 'text' }, level: { kind: 'integer' } }, indexed))
    await prepare(name, spec({ email: { kind: 'text' } }))
    const { rows } = await pool.query(
      `select indexname from pg_indexes where schemaname = $1 and tablename = 'users'`,
      [name],
    )
    expect(rows.map(({ indexname }) => indexname).sort()).toEqual(['users_email_key', 'users_pkey'])
    await pool.query(`select level from ${name}.users`)
  })

  describe('an index that the spec calls retired', () => {
    const fields = { email: { kind: 'text' }, level: { kind: 'integer' } } as const
    const early = spec(fields, { indexes: [{ on: ['email'] }, { on: ['email', 'level'] }] })
    const retiredIndexes = [{ on: ['email', 'level'] }]
    const late = spec(fields, { indexes: [{ on: ['email'] }], retiredIndexes })
    const indexes = async (name: string) => {
      const { rows } = await pool.query(
        `select indexname from pg_indexes where schemaname = $1 and tablename = 'users'`,
        [name],
      )
      return rows.map(({ indexname }) => indexname).sort()
    }
    const both = ['users_email_idx', 'users_email_level_idx', 'users_pkey']
    const one = ['users_email_idx', 'users_pkey']

    it('is dropped once, and comes back for no older version', async () => {
      const name = schema()
      await prepare(name, early)
      expect(await indexes(name)).toEqual(both)
      await prepare(name, late)
      expect(await indexes(name)).toEqual(one)
      expect(await journal(name)).toContain('users/retired/email,level')
      await prepare(name, early)
      expect(await indexes(name)).toEqual(one)
    })

    it('is no step of a new table', async () => {
      const name = schema()
      const { client, sent } = recordingClient(pool)
      await postgres(client, { schema: name }).store.prepare([late])
      expect(await indexes(name)).toEqual(one)
      expect(sent.filter(({ text }) => text.includes('drop index'))).toEqual([])
    })

    it('stays until the next migration where the table is in use, and for a role that does not own it', async () => {
      const name = schema()
      await prepare(name, early)
      const busy = await pool.connect()
      try {
        await busy.query(`begin; select from ${name}.users`)
        await prepare(name, late)
        expect(await indexes(name)).toEqual(both)
      } finally {
        await busy.query('rollback')
        busy.release()
      }
      const role = `${name}_app`
      await pool.query(`create role ${role}`)
      await pool.query(`grant usage on schema ${name} to ${role}`)
      await pool.query(`grant select, insert on all tables in schema ${name} to ${role}`)
      try {
        await onDatabase(url ?? '', async (client: Client) => {
          await client.query(`set role ${role}`)
          await postgres(client, { schema: name }).store.prepare([late])
        })
        expect(await indexes(name)).toEqual(both)
      } finally {
        await pool.query(`drop owned by ${role}`)
        await pool.query(`drop role ${role}`)
      }
      await prepare(name, late)
      expect(await indexes(name)).toEqual(one)
    })
  })

  it('two prefixes in one schema share nothing', async () => {
    const name = schema()
    const of = (tablePrefix: string) => postgres(pool, { schema: name, tablePrefix })
    const each = sampleSpec('sliding')
    for (const prefix of ['one_', 'two_']) await of(prefix).store.prepare([each])
    expect(await of('one_').store.collection(each).insert(sample('a'))).toBe(true)
    expect(await of('two_').store.collection(each).get('a')).toBe(null)
    await of('one_').denylist.put([{ id: 'x', reason: 'revoked', expiresAt: 1 }])
    expect(await of('two_').denylist.find(['x'])).toEqual([])
    const { rows } = await pool.query(
      `select tablename from pg_tables where schemaname = $1 and tablename like '%postern%'`,
      [name],
    )
    expect(rows.map(({ tablename }) => tablename).sort()).toEqual(
      ['one_', 'two_'].flatMap((prefix) =>
        ['counters', 'denylist', 'leases', 'migrations'].map(
          (table) => `${prefix}postern_${table}`,
        ),
      ),
    )
  })

  it('index names longer than Postgres allows stay apart', async () => {
    const name = schema()
    const long = 'aVeryLongFieldNameThatGoesOnAndOn'
    const fields = [`${long}One`, `${long}Two`]
    await prepare(
      name,
      spec(Object.fromEntries(fields.map((field) => [field, { kind: 'text' }] as const)), {
        name: 'a_collection_with_a_long_name',
        indexes: fields.map((field) => ({ on: [field] })),
      }),
    )
    const { rows } = await pool.query(`select indexname from pg_indexes where schemaname = $1`, [
      name,
    ])
    const made = rows.map(({ indexname }) => indexname).filter((each) => each.startsWith('a_coll'))
    expect(made).toHaveLength(3)
  })

  it('a role that may create nothing can start once all is there', async () => {
    const name = schema()
    const each = sampleSpec('sliding')
    await prepare(name, each)
    const role = `${name}_app`
    await pool.query(`create role ${role} login`)
    await pool.query(`grant usage on schema ${name} to ${role}`)
    await pool.query(
      `grant select, insert, update, delete on all tables in schema ${name} to ${role}`,
    )
    try {
      await onDatabase(url ?? '', async (client: Client) => {
        await client.query(`set role ${role}`)
        const { store } = postgres(client, { schema: name })
        await store.prepare([each])
        expect(await store.collection(each).insert(sample('a'))).toBe(true)
      })
    } finally {
      await pool.query(`drop owned by ${role}`)
      await pool.query(`drop role ${role}`)
    }
  })

  it('keeps its own tables apart from collections', async () => {
    const own = spec({}, { name: 'postern_denylist' })
    await expect(prepare(schema(), own)).rejects.toThrow('"postern_" is reserved')
  })
})
