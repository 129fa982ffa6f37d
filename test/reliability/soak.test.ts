import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { expect, inject, it, onTestFinished } from 'vitest'
import { quantile } from '../../bench/harness/statistics.js'
import { crashPerson } from './crash-person.js'
import { figure } from './figures.js'
import { lineFrom, monotonic } from './moving-clock.js'
import { type Pace, pacedHost, paceOf } from './paced-host.js'
import { replicaName } from './replica.js'
import { newSchema, type Replica, startReplica } from './replicas.js'
import { isFull, sizes } from './sizes.js'
import { agedBy, p99OfMinutes, type SoakSample, soakGrowth, type Turn } from './soak-growth.js'
import { at, describeOn, patient } from './stores.js'

const { soakSeconds, soakWarmUpSeconds, soakClockRate, soakTurns, soakTurnSeconds } = sizes

const second = 1000
const processes = 2
const poolSize = 10
const people = 16
/** Rounds of one person. An ending of all sessions reads those of 90 days, and few people have thousands. */
const visits = 20
/** Of what the processes answered in the warm-up. */
const share = 0.7
const sampleEveryMs = isFull ? 10 * second : second

describeOn('postgres', 'figure R30: every flow for long, postgres', () => {
  it(
    'memory, connections and rows stay as they are, and so do times',
    async () => {
      const url = inject('postgresUrl') ?? ''
      const schema = newSchema(url)
      const replicas = await startAll(url, schema)
      const watch = new pg.Pool({ connectionString: url, max: 1, application_name: 'watch' })
      onTestFinished(() => watch.end())

      // A process may look for work before its tables are there.
      const before = await errorsOf(replicas)
      const pace = paceOf((ms) => wait(ms))
      const until = monotonic() + soakSeconds * second
      const failed = new AbortController()
      const goesOn = () => !failed.signal.aborted && monotonic() < until
      const lives = livesOn(replicas, pace, goesOn).catch((error: unknown) => {
        failed.abort(error)
      })
      const watching = watched(replicas, watch, schema, goesOn)
      await wait(soakWarmUpSeconds * second)
      const rate = (pace.times.length / soakWarmUpSeconds) * share
      pace.limit(rate)
      const [samples] = await Promise.all([watching, lives])

      failed.signal.throwIfAborted()
      expect(await errorsOf(replicas)).toEqual(before)
      const most = Math.max(...samples.flatMap(({ connections }) => connections))
      expect(most).toBeLessThanOrEqual(poolSize)
      expect(pace.times.length).toBeGreaterThan(soakSeconds)
      const growth = soakGrowth(samples, pace.times)
      const turns = await inTurns(replicas, await startAll(url, newSchema(url)), rate)
      const aged = agedBy(turns)
      // A few seconds say nothing of what grows slowly, or of times.
      if (isFull) {
        expect.soft(Math.max(...growth.memory)).toBeLessThanOrEqual(1)
        expect.soft(growth.resources).toBeLessThanOrEqual(5)
        expect.soft(growth.tables).toEqual([])
        expect.soft(aged, slowness(samples, pace.times, turns)).toBeLessThanOrEqual(1.2)
      }
      figure(
        'R30',
        'every flow for long, on postgres',
        `${soakSeconds / 60} min of ${people} people who registered, confirmed, signed in, refreshed, changed and ` +
          `reset passwords, signed out and deleted their accounts on ${processes} processes, at ${Math.round(rate)} requests a second ` +
          `(70 % of what they can), the clocks ${soakClockRate} times as fast as time: ${pace.times.length} requests, ` +
          `none with an answer but the one that was due; from the second third to the last: memory ` +
          `${growth.memory.map((mb) => mb.toFixed(2)).join(' and ')} MB a minute, the p99 times ` +
          `${growth.p99.toFixed(2)} with whatever else the machine did, and times ${aged.toFixed(2)} beside processes that ` +
          `had just started on empty tables, in ${soakTurns} turns; no more sockets or timers, no table with more rows but those whose rows live ` +
          `longer (audit records, notes of deletions, the denylist), which get no more than before; at most ${most} connections of ${poolSize}`,
      )
    },
    (soakSeconds + 2 * soakWarmUpSeconds + 2 * soakTurns * soakTurnSeconds + 240) * second,
  )
})

function startAll(url: string, schema: string): Promise<readonly Replica[]> {
  const clock = lineFrom(Date.now(), soakClockRate)
  const start = () =>
    startReplica({
      place: { store: 'postgres', url, schema },
      poolSize,
      clock,
      pacesTimers: true,
      // With plenty of memory V8 hardly collects, and the figure would be one of its patience.
      smallHeap: true,
      options: {
        backendTimeout: patient,
        requestTimeout: patient,
        trustProxy: 1,
        // Full within the first third, also on a fast machine: what it keeps by default fills for as long as the test runs.
        tokenMemory: 8,
        settings: { sessionAbsoluteTTL: '1h', emailVerificationTTL: '15m' },
      },
    })
  return Promise.all(Array.from({ length: processes }, start))
}

/** People who go through every flow, again and again. Rejects when one of them meets what nobody may meet. */
async function livesOn(
  replicas: readonly Replica[],
  pace: Pace,
  goesOn: () => boolean,
): Promise<void> {
  const hosts = replicas.map((replica) => pacedHost(replica, pace))
  let turn = 0
  const anyHost = async () => {
    turn += 1
    return at(hosts, turn)
  }
  const life = async (): Promise<void> => {
    while (goesOn()) {
      const person = crashPerson(anyHost)
      await person.arrive()
      for (let visit = 0; visit < visits && goesOn(); visit += 1) await person.live()
      await person.leave()
    }
  }
  await Promise.all(Array.from({ length: people }, life))
}

/** The same load on those that have run for long and on those that have just started, whose warm-up does not count. */
async function inTurns(old: readonly Replica[], young: readonly Replica[], rate: number) {
  async function turn(replicas: readonly Replica[], seconds: number): Promise<Turn> {
    const pace = paceOf((ms) => wait(ms))
    pace.limit(rate)
    const until = monotonic() + seconds * second
    await livesOn(replicas, pace, () => monotonic() < until)
    return pace.times.map(({ ms }) => ms)
  }
  await turn(young, 2 * soakWarmUpSeconds)
  const aged: Turn[] = []
  const fresh: Turn[] = []
  for (let round = 0; round < soakTurns; round += 1) {
    aged.push(await turn(old, soakTurnSeconds))
    fresh.push(await turn(young, soakTurnSeconds))
  }
  return { aged, fresh }
}

/** What a failure tells of where the time goes. */
function slowness(
  samples: readonly SoakSample[],
  times: Pace['times'],
  turns: Parameters<typeof agedBy>[0],
): string {
  const p99s = (of: readonly Turn[]) => of.map((turn) => quantile(turn, 0.99).toFixed(0)).join(' ')
  const heaps = samples.map(({ heapBytes }) => Math.round(Math.max(...heapBytes) / 1024 / 1024))
  return [
    `p99 of each minute: ${p99OfMinutes(times)
      .map((ms) => ms.toFixed(0))
      .join(' ')}`,
    `of each turn, aged: ${p99s(turns.aged)}; fresh: ${p99s(turns.fresh)}`,
    `heap of each sample in MB: ${heaps.join(' ')}`,
  ].join('\n')
}

async function errorsOf(replicas: readonly Replica[]): Promise<readonly string[]> {
  const states = await Promise.all(replicas.map((one) => one.control('state', null)))
  return states.flatMap(({ errors }) => errors)
}

async function watched(
  replicas: readonly Replica[],
  watch: pg.Pool,
  schema: string,
  goesOn: () => boolean,
): Promise<readonly SoakSample[]> {
  const samples: SoakSample[] = []
  while (goesOn()) {
    const states = await Promise.all(replicas.map((one) => one.control('state', null)))
    const connections: number[] = []
    for (const { pid } of replicas) connections.push(await connectionsOf(watch, pid))
    const rows = await rowsIn(watch, schema)
    samples.push({
      at: monotonic(),
      rssBytes: states.map(({ rssBytes }) => rssBytes),
      heapBytes: states.map(({ heapUsedBytes }) => heapUsedBytes),
      resources: states.map(({ resources }) => resources),
      connections,
      rows,
    })
    await wait(sampleEveryMs)
  }
  return samples
}

/** By table. To count the rows themselves would take the database away from the people whose times are measured. */
async function rowsIn(pool: pg.Pool, schema: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; n: number }>(
    'select relname as name, (n_tup_ins - n_tup_del)::int as n from pg_stat_user_tables where schemaname = $1',
    [schema],
  )
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}

const connectionsOf = (pool: pg.Pool, pid: number): Promise<number> =>
  count(pool, 'select count(*)::int as n from pg_stat_activity where application_name = $1', [
    replicaName(pid),
  ])

async function count(pool: pg.Pool, statement: string, values: unknown[]): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(statement, values)
  return rows[0]?.n ?? 0
}
