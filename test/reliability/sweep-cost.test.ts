import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { sweepBatch } from '../../src/engine/sweep-schedule.js'
import { allCollectionSpecs, collectionsOf } from '../../src/model/collections.js'
import type { Backend } from '../../src/ports/backend.js'
import { onDatabase } from '../support/stores/postgres.js'
import { recordingClient, type Statement } from '../support/stores/recording-client.js'
import { figure } from './figures.js'
import { isFull, sizes } from './sizes.js'
import { describeOn } from './stores.js'

/** The small table's rows, and how many times as many the large one has. */
const { sweepRows } = sizes
const times = 10
const samples = 21
const day = 24 * 60 * 60 * 1000
/** One batch has expired. Half past noon: the day the sweep happens on is neither over nor young. */
const noon = Date.UTC(2026, 5, 15, 12, 30)
const moments = [
  { where: 'all others live', before: noon },
  { where: 'all have expired', before: noon + 60 * day },
] as const

/** What is swept, a table of each form an adapter's statement can have. */
interface Swept {
  readonly name: string
  readonly table: string
  /** Columns beside `id` and `expires_at`, as SQL over `n`. */
  readonly columns: Readonly<Record<string, string>>
  sweep(backend: Backend, before: number): Promise<unknown>
}

const families: Swept = {
  name: 'a sliding collection',
  table: 'client_refresh_tokens',
  columns: {
    user_id: `'user' || n % 5000`,
    login_at: `timestamptz 'epoch'`,
    session_epoch: '0',
    generation: '1',
    rotated_at: `timestamptz 'epoch'`,
    rotated_to: `md5(n::text)`,
    no_reissue_up_to: '0',
    rotated_by: `'x'`,
    shown: '0',
    by_device: 'false',
    delivery: `'body'`,
  },
  sweep: ({ store }, before) =>
    collectionsOf(store, 'client', '').families.sweep(before, sweepBatch),
}

const all: readonly Swept[] = [
  families,
  {
    name: 'a fixed collection',
    table: 'client_sessions',
    columns: {
      user_id: `'user' || n % 5000`,
      login_at: `timestamptz 'epoch'`,
      active: 'n % 2 = 0',
      login_method: `'password'`,
    },
    sweep: ({ store }, before) =>
      collectionsOf(store, 'client', '').sessions.sweep(before, sweepBatch),
  },
  {
    name: 'the denylist',
    table: 'postern_denylist',
    columns: { reason: `'revoked'` },
    sweep: ({ denylist }, before) => denylist.sweep(before, sweepBatch),
  },
  {
    name: 'the counters',
    table: 'postern_counters',
    columns: { hits: '1', allowed: 'true' },
    sweep: ({ counter }, before) => counter.sweep(before, sweepBatch),
  },
]

describeOn('postgres', 'figure sweep', () => {
  it.each(all)(
    'a batch of $name is a walk along an index',
    async (swept) => {
      const database = await openDatabase()
      const rows = sweepRows * times
      const table = await database.load(swept, rows)
      // As it is before autovacuum has come by for the first time, and afterwards.
      for (const care of [null, 'analyze', 'vacuum analyze']) {
        if (care !== null) await database.pool.query(`${care} ${table.name}`)
        for (const { where, before } of moments) {
          const scans = await table.scans(before)
          // An index's range, read from the table by itself or by way of a bitmap.
          const [chosenBy, inBitmap, ...others] = scans
          const choosing = `${chosenBy}, ${inBitmap}`
          expect(choosing, `${where}, ${care}`).toMatch(/Index Scan \S+_expires_\S+_idx/)
          expect(choosing, `${where}, ${care}`).not.toContain('Seq Scan')
          // What is left may be counted along the table as long as nothing is known of it.
          if (care === null) continue
          expect(scans.join(), `${where}, ${care}`).not.toContain('Seq Scan')
          expect(others.join(), `${where}, ${care}`).toContain('_idx')
        }
      }
      figure(
        'sweep',
        `the statement that sweeps ${swept.name}`,
        `${sweepBatch} of ${rows} rows, where ${moments.map(({ where }) => where).join(' and where ')}` +
          `, every plan walks the index of the expiry, none reads the table`,
      )
    },
    600_000,
  )

  // Times of short runs on a busy machine say nothing.
  if (!isFull) return
  it.each(all)(
    'a batch of $name takes no longer in a large table',
    async (swept) => {
      const database = await openDatabase()
      const [small, large] = [
        await database.load(swept, sweepRows),
        await database.load(swept, sweepRows * times),
      ]
      await database.pool.query('vacuum analyze')
      const shown: string[] = []
      for (const { where, before } of moments) {
        const taken = { small: [] as number[], large: [] as number[] }
        // By turns, so that what else the machine does befalls both; the first of each is not counted.
        for (let n = -1; n < samples; n += 1) {
          const [ofSmall, ofLarge] = [
            await small.timedSweep(before),
            await large.timedSweep(before),
          ]
          if (n < 0) continue
          taken.small.push(ofSmall)
          taken.large.push(ofLarge)
        }
        const ratio = median(taken.large) / median(taken.small)
        shown.push(
          `where ${where}, ${ratio.toFixed(2)} (${asMs(taken.small)}, ${asMs(taken.large)})`,
        )
        expect(ratio, where).toBeLessThanOrEqual(1.5)
      }
      figure(
        'sweep',
        `how long sweeping ${swept.name} takes`,
        `${sweepBatch} rows of ${sweepRows * times} as a multiple of ${sweepBatch} of ${sweepRows}, ` +
          `medians of ${samples}: ${shown.join('; ')}`,
      )
    },
    900_000,
  )
})

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const asMs = (values: readonly number[]): string => `${median(values).toFixed(0)} ms`

/** A database of one test's own, which goes with it: a million rows are nobody else's business. */
async function openDatabase() {
  const server = inject('postgresUrl') ?? ''
  const name = `postern_sweep_${randomBytes(6).toString('hex')}`
  await onDatabase(server, (client) => client.query(`create database ${name}`))
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = new pg.Pool({
    connectionString: url.href,
    max: 2,
    options: '-c synchronous_commit=off',
  })
  onTestFinished(async () => {
    await pool.end()
    await onDatabase(server, async (client) => {
      // The server ends a connection a little after the client has: cut off by force, it would say so
      // to a client that nobody listens to any more.
      const left = `select from pg_stat_activity where datname = '${name}'`
      while (((await client.query(left)).rowCount ?? 0) > 0);
      await client.query(`drop database ${name}`)
    })
  })
  let tables = 0

  /** A table with rows in it, of which one batch had expired at noon; autovacuum stays away. */
  async function load(swept: Swept, rows: number) {
    tables += 1
    const schema = `of${tables}`
    const backend = postgres(pool, { schema })
    await backend.store.prepare(allCollectionSpecs(''))
    const name = `${schema}.${swept.table}`
    await pool.query(`alter table ${name} set (autovacuum_enabled = false)`)
    const columns = Object.keys(swept.columns).join()
    const values = Object.values(swept.columns).join()
    let written = 0
    /** In the order in which people came, with days between when the one and the other went. */
    const write = async (count: number, firstExpiry: number): Promise<void> => {
      await pool.query(
        `insert into ${name} (id, ${columns}, expires_at) select md5(n::text), ${values},
           timestamptz '${new Date(firstExpiry).toISOString()}'
           + (n - ${written}) * interval '20 days' / ${count} + (n % 700 * 7) * interval '1 minute'
         from generate_series(${written + 1}, ${written + count}) as n`,
      )
      written += count
    }
    await write(rows - sweepBatch, noon + day)
    await write(sweepBatch, noon - 40 * day)
    return {
      name,
      /** Milliseconds. As many expired rows as went are there again afterwards. */
      async timedSweep(before: number): Promise<number> {
        const began = performance.now()
        await swept.sweep(backend, before)
        const taken = performance.now() - began
        await write(sweepBatch, noon - 40 * day)
        return taken
      },
      /** The names of the plan's scans and of their indexes, for the statement the adapter sends. */
      async scans(before: number): Promise<readonly string[]> {
        const { text, values: given } = await statementOf(swept, schema, before)
        const { rows: plans } = await pool.query(`explain (format json) ${text}`, [...given])
        return scansIn(plans[0]?.['QUERY PLAN'])
      },
    }
  }

  return { pool, load }
}

/** What the adapter would send, sent nowhere. */
async function statementOf(swept: Swept, schema: string, before: number): Promise<Statement> {
  const nothing = { rows: [{ removed: '0', seen: '0' }] }
  const { client, sent } = recordingClient({ query: async () => nothing })
  await swept.sweep(postgres(client, { schema }), before)
  const [statement] = sent
  if (statement === undefined || sent.length > 1) throw new Error('a batch is not one statement')
  return statement
}

/** `Index Scan client_sessions_expires_at_idx`, `Seq Scan`, … of a plan in JSON, wherever they are. */
function scansIn(plan: unknown): readonly string[] {
  if (typeof plan !== 'object' || plan === null) return []
  const node: Readonly<Record<string, unknown>> = { ...plan }
  const inner = Object.values(node).flatMap(scansIn)
  const type = node['Node Type']
  if (typeof type !== 'string' || !type.endsWith('Scan')) return inner
  return [[type, node['Index Name']].filter(Boolean).join(' '), ...inner]
}
