import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/postgres/index.js'
import { sweepBatch, sweepContentionMs, sweepLeaseTtlMs } from '../../src/engine/sweep-schedule.js'
import { allCollectionSpecs } from '../../src/model/collections.js'
import { figure, percentiles } from './figures.js'
import { lineFrom, monotonic } from './moving-clock.js'
import { replicaName } from './replica.js'
import { newSchema, type Replica, startReplica } from './replicas.js'
import { sizes } from './sizes.js'
import { type Client, clientOf, type SteadyLoad, steadyLoad, tally, turns } from './steady-load.js'
import { describeOn } from './stores.js'

/** How much faster than time itself the replicas' clocks go. */
const rate = sizes.sweepClockRate
const tables = ['operator_refresh_tokens', 'client_refresh_tokens'] as const
const processes = 5
/** More than all the sweeps of the test remove. */
const expiredRows = 80_000

/** Milliseconds of real time in which a replica's clock goes on by `ms`. */
const real = (ms: number): number => ms / rate

/** One sweep of refresh tokens as the server saw it. */
interface Statement {
  readonly table: string
  readonly app: string
  readonly removed: number
  /** Milliseconds of the server's clock. */
  readonly beganAt: number
  readonly endedAt: number
}

describeOn('postgres', 'figure R10', () => {
  it('R-8-18 R-8-19 R-8-20 R-8-21 R-8-23 R-8-24 T-31 five processes and one sweep, whoever dies', async () => {
    const url = inject('postgresUrl') ?? ''
    const database = await openDatabase(url, newSchema(url))
    onTestFinished(() => database.close())
    const fleet = await startFleet(url, database)
    onTestFinished(() => fleet.stop())
    const load = await fleet.load()

    // One replica sweeps, cycle after cycle.
    let last = await database.sweepAfter(0)
    for (let cycle = 1; cycle < sizes.sweepCalmCycles; cycle += 1) {
      last = await database.sweepAfter(last.endedAt + real(sweepContentionMs) / 2)
    }
    const calm = load.seen.filter(({ kind }) => kind !== 'idle')
    const asleep = await sleepThroughTakeover(database, fleet)
    expect(tally(load.seen.filter(({ outcome }) => !/^200/.test(outcome)))).toEqual({})
    const takeovers = [
      asleep.takeoverMs,
      await killHolder(database, fleet),
      await cutOffFromLease(database, fleet),
    ]
    await load.stop()

    for (const ms of takeovers) {
      expect(ms).toBeLessThanOrEqual(real(sweepContentionMs + sweepLeaseTtlMs) + 1500)
    }
    const all = await database.statements()
    for (const { removed } of all) expect(removed).toBeLessThanOrEqual(sweepBatch)
    expect(tooSoon(all)).toEqual([])
    const took = latencies(calm, all, database.skew)
    figure(
      'R10',
      'the sweep of five processes',
      `clocks ${rate} times as fast as time: ${all.length} statements, none above ${sweepBatch} ` +
        'rows, no cycle of a leader less than 5 min after its last; stopped amid a statement and ' +
        `awake again after the takeover, the holder removed the ${asleep.overrun} rows of that ` +
        `statement and none more; taken over ${takeovers.map(asMinutes).join(', ')} after the ` +
        'holder was stopped, was killed, and the lease store was back; no statement without the ' +
        `lease store; of ${calm.length} requests of the calm, ${took.all}; beside a sweep ` +
        `${took.beside}, without one ${took.idle}`,
    )
  }, 180_000)
})

interface Fleet {
  readonly alive: Map<string, Replica>
  load(): Promise<SteadyLoad>
  stop(): Promise<void>
}

/** Replicas whose clocks are fast and agree. */
async function startFleet(postgresUrl: string, { schema }: Database): Promise<Fleet> {
  const clock = { ...lineFrom(Date.now(), rate), timersKeepPace: true }
  // Only the clock is faster; the store takes the time it takes.
  const options = { backendTimeout: 5000 * rate, settings: { accessTokenTTL: '24h' } }
  const replicas = await Promise.all(
    Array.from({ length: processes }, () => startReplica({ postgresUrl, schema, clock, options })),
  )
  return {
    alive: new Map(replicas.map((it) => [replicaName(it.pid), it])),
    async load() {
      const clients: Client[] = []
      for (let n = 0; n < 4; n += 1) {
        for (const replica of replicas) clients.push(clientOf(replica, await replica.newLogin()))
      }
      const turn = turns(clients)
      return steadyLoad(80, (n) => turn(n) ?? ['idle', async () => '200'])
    },
    stop: async () => void (await Promise.all(replicas.map((it) => it.stop()))),
  }
}

/** The holder is stopped while a statement of its is under way, and wakes up with a successor. */
async function sleepThroughTakeover(database: Database, fleet: Fleet) {
  const [table] = tables
  const release = await database.hold(table)
  const name = await database.waitingOn(table)
  const holder = named(fleet, name)
  holder.signal('SIGSTOP')
  await release()
  const stoppedAt = await database.now()
  const heir = await database.sweepAfter(stoppedAt, ({ app }) => app !== name)
  holder.signal('SIGCONT')
  await wait(real(sweepLeaseTtlMs) + 500)
  const late = (await database.statements()).filter(
    (it) => it.app === name && it.endedAt > stoppedAt,
  )
  expect(late.filter(({ beganAt }) => beganAt > stoppedAt)).toEqual([])
  expect(late.length).toBeLessThanOrEqual(1)
  return { takeoverMs: heir.endedAt - stoppedAt, overrun: late[0]?.removed ?? 0 }
}

/** Milliseconds until another one sweeps. */
async function killHolder(database: Database, fleet: Fleet): Promise<number> {
  const name = (await database.statements()).at(-1)?.app ?? ''
  await named(fleet, name).stop()
  fleet.alive.delete(name)
  const killedAt = await database.now()
  const next = await database.sweepAfter(killedAt, ({ app }) => app !== name)
  return next.endedAt - killedAt
}

/** Nobody reaches the lease store; milliseconds until somebody sweeps after they can again. */
async function cutOffFromLease(database: Database, { alive }: Fleet): Promise<number> {
  for (const replica of alive.values()) {
    await replica.control('failNext', { call: 'lease.replace', mode: 'before' })
    await replica.control('failNext', { call: 'lease.read', mode: 'before' })
  }
  const cutOffAt = await database.now()
  await wait(real(sweepContentionMs + 3 * sweepLeaseTtlMs))
  for (const replica of alive.values()) {
    const login = await replica.newLogin()
    expect((await replica.refresh(login.refreshToken)).status).toBe(200)
    await replica.control('heal', null)
  }
  const healedAt = await database.now()
  // The lease in hand is good until it has to be renewed.
  const goodUntil = cutOffAt + real(sweepLeaseTtlMs)
  const without = (await database.statements()).filter(
    ({ beganAt }) => beganAt > goodUntil && beganAt < healedAt,
  )
  expect(without).toEqual([])
  return (await database.sweepAfter(healedAt)).endedAt - healedAt
}

const asMinutes = (ms: number): string => `${((ms * rate) / 60_000).toFixed(1)} min`

function named({ alive }: Fleet, name: string): Replica {
  const found = alive.get(name)
  if (found === undefined) throw new Error(`"${name}" is none of the replicas`)
  return found
}

/** Cycles of one leader that begin less than a cycle after its last. Each begins with one tier. */
function tooSoon(statements: readonly Statement[]): readonly string[] {
  // Each statement goes out a little later than its cycle begins, not always by the same.
  const least = real(sweepContentionMs) - 100
  const begins = statements.filter(({ table }) => table === tables[0])
  return begins.flatMap(({ app, beganAt }, index) => {
    const last = begins.slice(0, index).findLast((it) => it.app === app)
    const gap = last === undefined ? Number.POSITIVE_INFINITY : beganAt - last.beganAt
    return gap < least ? [`${app} began a cycle ${asMinutes(gap)} after its last`] : []
  })
}

type Database = Awaited<ReturnType<typeof openDatabase>>

/** A schema with many expired refresh rows, which writes down who removes how many. */
async function openDatabase(url: string, schema: string) {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  await postgres(pool, { schema }).store.prepare(allCollectionSpecs(''))
  await pool.query(`create table ${schema}.swept
    (tier text, app text, removed int, began timestamptz, ended timestamptz)`)
  await pool.query(`create function ${schema}.note_sweep() returns trigger language plpgsql as $$
    begin
      insert into ${schema}.swept
      select tg_table_name, current_setting('application_name'), count(*),
        statement_timestamp(), clock_timestamp() from gone having count(*) > 0;
      return null;
    end $$`)
  for (const table of tables) {
    await pool.query(`insert into ${schema}.${table}
      (id, user_id, login_at, session_epoch, generation, rotated_at, rotated_to, expires_at)
      select 'expired-' || n, 'nobody', to_timestamp(0), 0, 1, to_timestamp(0), 'x',
        to_timestamp(86400 * (1 + n % 100)) from generate_series(1, ${expiredRows}) as n`)
    await pool.query(`create trigger note_sweep after delete on ${schema}.${table}
      referencing old table as gone for each statement execute function ${schema}.note_sweep()`)
  }

  async function now(): Promise<number> {
    const { rows } = await pool.query('select clock_timestamp() as now')
    return new Date(rows[0]?.now).getTime()
  }

  async function statements(): Promise<readonly Statement[]> {
    const { rows } = await pool.query(`select * from ${schema}.swept order by ended`)
    return rows.map((row) => ({
      table: String(row.tier),
      app: String(row.app),
      removed: Number(row.removed),
      beganAt: new Date(row.began).getTime(),
      endedAt: new Date(row.ended).getTime(),
    }))
  }

  /** The first statement after a time that `which` picks; waits for it, a minute at most. */
  async function sweepAfter(
    time: number,
    which: (statement: Statement) => boolean = () => true,
  ): Promise<Statement> {
    const until = monotonic() + 60_000
    for (;;) {
      const found = (await statements()).find((one) => one.endedAt > time && which(one))
      if (found !== undefined) return found
      if (monotonic() > until) throw new Error('nobody swept')
      await wait(20)
    }
  }

  return {
    schema,
    /** From the machine's monotonic time to the server's clock. */
    skew: (await now()) - monotonic(),
    now,
    statements,
    sweepAfter,

    /** Keeps everybody from removing rows of a table, until the function given back is called. */
    async hold(table: string): Promise<() => Promise<void>> {
      const client = await pool.connect()
      await client.query('begin')
      await client.query(`lock table ${schema}.${table} in share mode`)
      return async () => {
        await client.query('rollback')
        client.release()
      }
    },

    /** Whose statement waits for a table. */
    async waitingOn(table: string): Promise<string> {
      const until = monotonic() + 60_000
      for (;;) {
        const { rows } = await pool.query(
          `select application_name as app from pg_stat_activity
           where wait_event_type = 'Lock' and query like $1`,
          [`%delete from "${schema}"."${table}"%`],
        )
        if (rows[0] !== undefined) return String(rows[0].app)
        if (monotonic() > until) throw new Error('nobody waits')
        await wait(10)
      }
    },

    close: () => pool.end(),
  }
}

/** How long requests took, beside a sweep and without one. */
function latencies(
  seen: readonly { readonly startedAt: number; readonly endedAt: number }[],
  statements: readonly Statement[],
  skew: number,
) {
  const beside: number[] = []
  const idle: number[] = []
  for (const { startedAt, endedAt } of seen) {
    const overlaps = statements.some(
      (one) => one.endedAt - skew > startedAt && one.beganAt - skew < endedAt,
    )
    ;(overlaps ? beside : idle).push(endedAt - startedAt)
  }
  const shown = (times: readonly number[]) => percentiles(times, 50, 99)
  return { all: shown([...beside, ...idle]), beside: shown(beside), idle: shown(idle) }
}
