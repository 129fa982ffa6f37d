import { Client, Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import type { PostgresClient } from '../../adapters/postgres/client.js'
import { postgres } from '../../adapters/postgres/index.js'
import type { Collection } from '../../src/ports/store.js'
import { addingCounter } from '../../src/testing/shared/adding-counter.js'
import { fill, type Sample, sample, sampleSpec } from '../../src/testing/shared/sample.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'
import { recordingClient, type Statement } from '../support/stores/recording-client.js'

const url = inject('postgresUrl')
const title = url ? 'postgres statements' : 'postgres statements (Postgres not found)'
const noon = Date.UTC(2030, 5, 15, 12)

describe.skipIf(!url)(title, () => {
  const { pool, schema } = schemasOf(url)

  /** A prepared backend that records, and every call there is. */
  async function recorded(expires: 'sliding' | 'fixed' | 'due' = 'sliding') {
    const { client, sent } = recordingClient(pool)
    const name = schema()
    const { store, ...ports } = postgres(client, { schema: name })
    const spec = sampleSpec(expires)
    await store.prepare([spec])
    const samples = store.collection(spec)
    await fill(samples, [sample('a'), sample('b', { email: 'taken@example.test' })])
    sent.length = 0
    return { sent, samples, name: `"${name}"."${spec.name}"`, ...ports }
  }

  type Recorded = Awaited<ReturnType<typeof recorded>>

  const calls: Readonly<Record<string, (on: Recorded) => Promise<unknown>>> = {
    get: ({ samples }) => samples.get('a'),
    find: ({ samples }) => samples.find({ team: null }, { limit: 10, after: 'a' }),
    insert: ({ samples }) => samples.insert(sample('c')),
    'insert that is refused': ({ samples }) => samples.insert(sample('a')),
    update: ({ samples }) => samples.update('a', { count: 0, team: null }, { count: 1 }),
    'update that misses': ({ samples }) => samples.update('a', { count: 9 }, { count: 1 }),
    'update to a taken value': ({ samples }) => {
      return samples.update('a', { count: 0 }, { email: 'taken@example.test' })
    },
    take: ({ samples }) => samples.take('a', { score: { in: [1, null] } }),
    due: ({ samples }) => samples.due(noon, 10),
    sweep: ({ samples }) => samples.sweep(noon, 10),
    'denylist.put': ({ denylist }) => {
      return denylist.put(
        ['x', 'y', 'x'].map((id) => ({ id, reason: 'revoked', expiresAt: noon }) as const),
      )
    },
    'denylist.find': ({ denylist }) => denylist.find(['x', 'y']),
    'denylist.sweep': ({ denylist }) => denylist.sweep(noon, 10),
    'lease.read': ({ lease }) => lease.read('sweeper'),
    'lease.replace of nothing': ({ lease }) => {
      return lease.replace('sweeper', null, { owner: 'a', renewal: 1 })
    },
    'lease.replace of a record': ({ lease }) => {
      return lease.replace('sweeper', { owner: null, renewal: 1 }, { owner: 'a', renewal: 2 })
    },
    'counter.hit': ({ counter }) => counter.hit('k', 1000, 5, noon),
    'counter.add': ({ counter }) => addingCounter(counter).add('k', 1000, 5, noon, 3),
    'counter.forgive': ({ counter }) => counter.forgive('k', 1),
    'counter.forgive of all': ({ counter }) => counter.forgive('k'),
    'counter.sweep': ({ counter }) => counter.sweep(noon, 10),
  }

  it.each(Object.entries(calls))('%s is one statement', async (_name, call) => {
    const on = await recorded()
    await call(on)
    expect(on.sent).toHaveLength(1)
  })

  it("no statement reads the database's clock", async () => {
    const { client, sent } = recordingClient(pool)
    const { store, ...ports } = postgres(client, { schema: schema() })
    for (const expires of ['sliding', 'fixed'] as const) {
      const spec = sampleSpec(expires)
      await store.prepare([spec])
      const samples = store.collection(spec)
      for (const call of Object.values(calls)) await call({ sent, samples, name: '', ...ports })
    }
    expect(sent.length).toBeGreaterThan(40)
    const clocks =
      /now\s*\(|current_(date|time|timestamp)|local(time|timestamp)|_timestamp\s*\(|timeofday/i
    expect(sent.filter(({ text }) => clocks.test(text))).toEqual([])
  })

  it('denylist.put sends ids in one order, so that replicas lock them in one order', async () => {
    const { sent, denylist } = await recorded()
    const entries = ['c', 'a', 'B', 'b'].map(
      (id) => ({ id, reason: 'revoked', expiresAt: noon }) as const,
    )
    await denylist.put(entries)
    expect(sent[0]?.values[0]).toEqual(['B', 'a', 'b', 'c'])
  })

  it('sends values apart from the text, which no value ever enters', async () => {
    const on = await recorded()
    const odd = "'; drop table users; --"
    await on.samples.find({ email: odd }, { limit: 5, after: odd })
    await on.samples.insert(sample(odd, { team: odd, data: { odd } }))
    await on.samples.update(odd, { team: odd, realm: { in: [odd, 'main'] } }, { handle: odd })
    await on.denylist.find([odd])
    await on.counter.hit(odd, 1000, 5, noon)
    expect(on.sent.filter(({ text }) => text.includes('drop table'))).toEqual([])
    expect((await on.samples.get(odd))?.handle).toBe(odd)
  })

  it('gives what an update set as a read gives it, without asking the server for it', async () => {
    const { sent, samples } = await recorded()
    const set = {
      ...{ count: -0, team: null, enabled: true, bornAt: noon },
      ...{ data: { b: [1.5, null, 'x'], a: { deep: false } } },
    }
    const answer = await samples.update('a', { count: 0 }, set)
    const [, returned] = sent[0]?.text.split(' returning ') ?? []
    for (const column of ['count', 'team', 'enabled', 'born_at', 'data']) {
      expect(returned).not.toContain(`"${column}"`)
    }
    expect(returned).toContain('"handle"')
    expect(answer).toEqual(await samples.get('a'))
  })

  it('gives an update a copy of what it set', async () => {
    const { samples } = await recorded()
    const list = ['one']
    const answer = await samples.update('a', { count: 0 }, { data: { list } })
    list.push('two')
    expect(answer?.data).toEqual({ list: ['one'] })
  })

  it('sends calls of one form as one text, whatever their values', async () => {
    const { sent, samples } = await recorded()
    for (const id of ['a', 'b']) {
      await samples.update(id, { count: { lte: 5 }, team: { in: [id, 'main'] } }, { handle: id })
      await samples.find({ team: id }, { limit: 5, after: id })
    }
    expect(sent.slice(2).map(({ text }) => text)).toEqual(sent.slice(0, 2).map(({ text }) => text))
    expect(sent.slice(2)).not.toEqual(sent.slice(0, 2))
  })

  it('tells guards that ask for a missing value from those that ask for a value', async () => {
    const { samples } = await recorded()
    const guards = [
      { team: null },
      { team: 'x' },
      { team: { in: ['x', null] } },
      { team: { in: ['x'] } },
    ]
    await samples.update('a', { count: 0 }, { team: null })
    const met: unknown[] = []
    for (const guard of guards) {
      met.push((await samples.update('a', guard, { count: 0 })) !== null)
    }
    expect(met).toEqual([true, false, true, false])
  })

  describe('uses its indexes', () => {
    /** The plan of the one statement `call` sends, on a table of 20,000 rows. */
    async function planOf(
      expires: 'sliding' | 'fixed' | 'due',
      call: (on: Recorded) => Promise<unknown>,
    ): Promise<string> {
      const on = await recorded(expires)
      await pool.query(
        `insert into ${on.name} (id, email, realm, handle, team, enabled, count, born_at, data,
           expires_at)
         select 'id' || n, 'mail' || n, 'main', 'handle' || n, 'team' || (n % 50), n % 2 = 0,
           n % 1000, timestamptz 'epoch', '{}', timestamptz '2030-01-01' + n * interval '1 hour'
         from generate_series(1, 20000) as n`,
      )
      await pool.query(`analyze ${on.name}`)
      await call(on)
      const [statement] = on.sent
      if (!statement) throw new Error('nothing was sent')
      return explain(statement)
    }

    async function explain({ text, values }: Statement): Promise<string> {
      const { rows } = await pool.query(`explain (costs off) ${text}`, [...values])
      return rows.map((row) => row['QUERY PLAN']).join('\n')
    }

    it.each<[string, (on: Recorded) => Promise<unknown>, RegExp]>([
      ['a page', ({ samples }) => samples.find({ team: 'team7' }, { limit: 20 }), /_team_idx/],
      [
        'a page after an id',
        ({ samples }) => samples.find({ team: 'team7' }, { limit: 20, after: 'id5' }),
        /_team_idx/,
      ],
      [
        'the newest page',
        ({ samples }) => samples.find({ team: 'team7' }, { limit: 20, newestFirst: true }),
        /Backward using .*_team_idx/,
      ],
      [
        'a page by two fields',
        ({ samples }) => samples.find({ enabled: true, count: 8 }, { limit: 20, after: 'id5' }),
        /_enabled_count_idx/,
      ],
      [
        'a unique value',
        ({ samples }) => samples.find({ email: 'mail7' }, { limit: 1 }),
        /_email_key/,
      ],
    ])('find of %s: the right one, without a sort', async (_name, call, index) => {
      const plan = await planOf('sliding', call)
      expect(plan).toMatch(index)
      expect(plan).not.toMatch(/Seq Scan/)
      if (!plan.includes('_email_key')) expect(plan).not.toMatch(/Sort/)
    })

    it.each<[string, (on: Recorded) => Promise<unknown>]>([
      ['get', ({ samples }) => samples.get('id7')],
      ['update', ({ samples }) => samples.update('id7', { team: null, count: 7 }, { count: 1 })],
      ['take', ({ samples }) => samples.take('id7', { score: null, count: { in: [7, 8] } })],
    ])('%s: the primary key', async (_name, call) => {
      const plan = await planOf('sliding', call)
      expect(plan).toMatch(/_pkey/)
      expect(plan).not.toMatch(/Seq Scan/)
    })

    it.each(['fixed', 'sliding'] as const)(
      'sweep of a %s collection: its expiry',
      async (regime) => {
        const early = Date.UTC(2030, 0, 3)
        const plan = await planOf(regime, ({ samples }) => samples.sweep(early, 100))
        expect(plan).toMatch(regime === 'fixed' ? /_expires_at_idx/ : /_expires_day_idx/)
        expect(plan).toMatch(/_pkey/)
        expect(plan).not.toMatch(/Seq Scan/)
      },
    )

    it('due: its expiry, in order', async () => {
      const plan = await planOf('due', ({ samples }) => samples.due(Date.UTC(2031, 0, 1), 10))
      expect(plan).toMatch(/_expires_at_idx/)
      expect(plan).not.toMatch(/Seq Scan/)
    })
  })

  /** Updates of a sliding collection by a session of its own: how many, and how many wrote no index. */
  async function updatesOf(
    name: string,
    work: (own: Collection<Sample>) => Promise<void>,
  ): Promise<unknown> {
    const renewing = new Client({ connectionString: url ?? '' })
    await renewing.connect()
    const [ownSchema = '', table = ''] = name.replaceAll('"', '').split('.')
    const { store } = postgres(renewing, { schema: ownSchema })
    await work(store.collection({ ...sampleSpec('sliding'), name: table }))
    // A session hands in its statistics when it ends.
    await renewing.end()
    const { rows } = await pool.query(
      `select pg_stat_get_tuples_updated($1::regclass)::int as updated,
              pg_stat_get_tuples_hot_updated($1::regclass)::int as hot`,
      [name],
    )
    return rows[0]
  }

  it('renewing a sliding document writes no index anew', async () => {
    const { samples, name } = await recorded()
    await fill(samples, [sample('renewed', { expiresAt: noon })])
    const updates = await updatesOf(name, async (own) => {
      for (let at = 0; at < 50; at++) {
        await own.update('renewed', { expiresAt: noon + at }, { expiresAt: noon + at + 1 })
      }
    })
    expect(updates).toEqual({ updated: 50, hot: 50 })
  })

  it('a page has room for renewals, also while an old transaction keeps every former version', async () => {
    const { samples, name } = await recorded()
    const ids = Array.from({ length: 1000 }, (_, at) => `id${at}`)
    await fill(
      samples,
      ids.map((id) => sample(id, { expiresAt: noon })),
    )
    const old = await pool.connect()
    try {
      await old.query('begin isolation level repeatable read')
      await old.query('select 1')
      const updates = await updatesOf(name, async (own) => {
        for (const id of ids) await own.update(id, { expiresAt: noon }, { expiresAt: noon + 1 })
      })
      // A fifth of each page is free at first; without it, there is no room at all.
      expect(updates).toEqual({ updated: 1000, hot: expect.toSatisfy((hot) => hot > 120) })
    } finally {
      await old.query('rollback')
      old.release()
    }
  })

  it("is immune to the host's type parsers", async () => {
    const hijacked = new Pool({
      connectionString: url ?? '',
      max: 2,
      // What a host does who wants bigint, Date or its own JSON; text alone is left as it is.
      types: { getTypeParser: (type: number) => (text: string) => (type === 25 ? text : { text }) },
    })
    try {
      const { store, denylist, counter } = postgres(hijacked, { schema: schema() })
      const spec = sampleSpec('sliding')
      await store.prepare([spec])
      const samples = store.collection(spec)
      const doc: Sample = sample('a', {
        score: 2 ** 53 - 1,
        seenAt: 1,
        data: [{}],
        expiresAt: noon,
      })
      await fill(samples, [doc])
      expect(await samples.get('a')).toEqual(doc)
      expect(await samples.sweep(noon, 1)).toEqual({ removed: 1, left: 0 })
      await denylist.put([{ id: 'x', reason: 'max_age', expiresAt: noon }])
      expect(await denylist.find(['x'])).toEqual([{ id: 'x', reason: 'max_age', expiresAt: noon }])
      expect(await counter.hit('k', 5, 1, noon)).toEqual({
        allowed: true,
        count: 1,
        resetsAt: noon + 5,
      })
    } finally {
      await hijacked.end()
    }
  })

  it('says so when a client does not give text back as text', async () => {
    const client: PostgresClient = { query: async () => ({ rows: [{ id: 5 }] }) }
    const samples = postgres(client).store.collection(sampleSpec('never'))
    await expect(samples.get('a')).rejects.toThrow('must give text back as strings')
  })
})
