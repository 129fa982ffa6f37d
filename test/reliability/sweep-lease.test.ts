import { setTimeout as wait } from 'node:timers/promises'
import { expect, inject, it, onTestFinished } from 'vitest'
import { sweepBatch, sweepContentionMs, sweepLeaseTtlMs } from '../../src/engine/sweep-schedule.js'
import { figure, percentiles } from './figures.js'
import { replicaName } from './replica.js'
import { newSchema, type Replica, startReplica } from './replicas.js'
import { sizes } from './sizes.js'
import { type Client, clientOf, type SteadyLoad, steadyLoad, tally, turns } from './steady-load.js'
import { type SteppedTime, steppedTime } from './stepped-time.js'
import { describeOn } from './stores.js'
import { openSweepRecord, refreshTables, type Statement, type SweepRecord } from './sweep-record.js'

/** How many times as fast as time itself the replicas' time goes at most. */
const rate = sizes.sweepClockRate
const processes = 5
/** They start this far apart, so that they contend at different times. */
const staggerMs = 47_000
/** More than all the sweeps of the test remove. */
const expiredRows = 80_000
/** A dead holder's lease changes hands this late at most, after its last renewal. */
const takeoverMs = sweepContentionMs + sweepLeaseTtlMs
const day = 24 * 60 * 60 * 1000

describeOn('postgres', 'figure R10', () => {
  it('five processes and one sweep, whoever dies', async () => {
    const url = inject('postgresUrl') ?? ''
    const record = await openSweepRecord(url, newSchema(url), expiredRows)
    onTestFinished(() => record.close())
    const time = steppedTime(Date.now(), rate, record.setTime)
    onTestFinished(() => time.close())
    const fleet = await startFleet(url, record, time)
    onTestFinished(() => fleet.stop())
    const load = await fleet.load()

    // One replica sweeps, cycle after cycle.
    const startedAt = time.now()
    await time.goOnTo(startedAt + sizes.sweepCalmCycles * sweepContentionMs)
    const inCalm = (await record.statements()).filter(({ at }) => at > startedAt)
    expect(inCalm).toHaveLength(refreshTables.length * sizes.sweepCalmCycles)
    const [first, ...later] = inCalm.filter(isFirstOfCycle)
    expect(later.map(({ app }) => app)).toEqual(later.map(() => first?.app))
    expect(later.map(({ at }) => at - (first?.at ?? 0))).toEqual(
      later.map((_, index) => (index + 1) * sweepContentionMs),
    )
    const calm = load.seen.filter(({ kind }) => kind !== 'idle')
    const asleep = await sleepThroughTakeover(fleet)
    expect(tally(load.seen.filter(({ outcome }) => !/^200/.test(outcome)))).toEqual({})
    const takeovers = [asleep.takeover, await killHolder(fleet), await cutOffFromLease(fleet)]
    await load.stop()

    for (const ms of takeovers) expect(ms).toBeLessThanOrEqual(takeoverMs)
    const all = await record.statements()
    for (const { removed } of all) expect(removed).toBeLessThanOrEqual(sweepBatch)
    expect(tooSoon(all)).toEqual([])
    const took = latencies(calm, all, record.skew)
    figure(
      'R10',
      'the sweep of five processes',
      `time stepped from timer to timer: ${all.length} statements, none above ${sweepBatch} ` +
        'rows, no cycle of a leader less than 5 min after its last, and in the calm exactly 5; stopped amid a statement and ' +
        `awake again after the takeover, the holder removed the ${asleep.overrun} rows of that ` +
        `statement and none more; taken over ${takeovers.map(asMinutes).join(', ')} after the ` +
        'holder was stopped, was killed, and the lease store was back; no statement without the ' +
        `lease store; of ${calm.length} requests of the calm, ${took.all}; beside a sweep ` +
        `${took.beside}, without one ${took.idle}`,
    )
  }, 600_000)
})

interface Fleet {
  readonly alive: Map<string, Replica>
  readonly record: SweepRecord
  readonly time: SteppedTime
  load(): Promise<SteadyLoad>
  stop(): Promise<void>
}

/** Replicas that share one time, each of which has contended for the lease. */
async function startFleet(url: string, record: SweepRecord, time: SteppedTime): Promise<Fleet> {
  const place = { store: 'postgres', url, schema: record.schema } as const
  // Steps must not overtake a request: the store takes the time it takes.
  const options = { backendTimeout: day, requestTimeout: day, settings: { accessTokenTTL: '24h' } }
  const alive = new Map<string, Replica>()
  for (let n = 0; n < processes; n += 1) {
    const replica = await startReplica({ place, clock: time.clock, options })
    alive.set(replicaName(replica.pid), replica)
    await time.join(replica)
    await time.goOnTo(time.now() + staggerMs)
  }
  const replicas = [...alive.values()]
  return {
    alive,
    record,
    time,
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
async function sleepThroughTakeover(fleet: Fleet) {
  const { record, time } = fleet
  const [table] = refreshTables
  const release = await record.hold(table)
  const name = await stepUntilWaiting(fleet, table)
  const holder = named(fleet, name)
  const before = await record.statements()
  holder.signal('SIGSTOP')
  time.leave(holder)
  await release()
  // What it had sent goes on without it, and is the last it removes.
  await record.quiet(name)
  const late = (await record.statements()).slice(before.length)
  expect(late).toMatchObject([{ app: name, table }])
  const stoppedAt = time.now()
  const heir = await nextSweep(fleet)
  expect(heir.app).not.toBe(name)
  holder.signal('SIGCONT')
  await time.join(holder)
  await time.goOnTo(time.now() + 2 * sweepLeaseTtlMs)
  const after = (await record.statements()).slice(before.length + late.length)
  expect(after.filter(({ app }) => app === name)).toEqual([])
  return { takeover: heir.at - stoppedAt, overrun: late[0]?.removed ?? 0 }
}

/** Goes on until somebody's statement waits for a table, and no further; whose. */
async function stepUntilWaiting({ record, time }: Fleet, table: string): Promise<string> {
  for (;;) {
    let stepped = false
    // The step with that statement in it does not end before the table is free again.
    const step = time.step().finally(() => {
      stepped = true
    })
    for (;;) {
      const name = await record.waitingOn(table)
      if (name !== null) {
        step.catch(() => {})
        return name
      }
      if (stepped) break
      await wait(5)
    }
    await step
  }
}

/** Milliseconds until another one sweeps. */
async function killHolder(fleet: Fleet): Promise<number> {
  const { record, time, alive } = fleet
  const name = (await record.statements()).at(-1)?.app ?? ''
  const holder = named(fleet, name)
  time.leave(holder)
  await holder.stop()
  alive.delete(name)
  const killedAt = time.now()
  const next = await nextSweep(fleet)
  expect(next.app).not.toBe(name)
  return next.at - killedAt
}

/** Nobody reaches the lease store; milliseconds until somebody sweeps after they can again. */
async function cutOffFromLease(fleet: Fleet): Promise<number> {
  const { record, time, alive } = fleet
  for (const replica of alive.values()) {
    await replica.control('failNext', { call: 'lease.replace', mode: 'before' })
    await replica.control('failNext', { call: 'lease.read', mode: 'before' })
  }
  const before = await record.statements()
  await time.goOnTo(time.now() + sweepContentionMs + 3 * sweepLeaseTtlMs)
  for (const replica of alive.values()) {
    const login = await replica.newLogin()
    expect((await replica.refresh(login.refreshToken)).status).toBe(200)
  }
  // Not even while the lease in hand is good: each statement asks the lease store first.
  expect(await record.statements()).toEqual(before)
  for (const replica of alive.values()) await replica.control('heal', null)
  const healedAt = time.now()
  return (await nextSweep(fleet)).at - healedAt
}

/** Goes on until somebody sweeps, for the time a takeover may take and no longer. */
async function nextSweep({ record, time }: Fleet): Promise<Statement> {
  const seen = (await record.statements()).length
  const until = time.now() + takeoverMs
  for (;;) {
    const next = (await record.statements())[seen]
    if (next !== undefined) return next
    if (time.now() >= until) throw new Error('nobody swept')
    await time.step(until)
  }
}

const asMinutes = (ms: number): string => `${(ms / 60_000).toFixed(1)} min`

function named({ alive }: Fleet, name: string): Replica {
  const found = alive.get(name)
  if (found === undefined) throw new Error(`"${name}" is none of the replicas`)
  return found
}

/** Cycles of one leader that begin less than five minutes after its last. */
function tooSoon(statements: readonly Statement[]): readonly string[] {
  const begins = statements.filter(isFirstOfCycle)
  return begins.flatMap(({ app, at }, index) => {
    const last = begins.slice(0, index).findLast((it) => it.app === app)
    const gap = last === undefined ? Number.POSITIVE_INFINITY : at - last.at
    return gap < sweepContentionMs ? [`${app} began a cycle ${asMinutes(gap)} after its last`] : []
  })
}

/** Each cycle begins with the same tier. */
function isFirstOfCycle({ table }: Statement): boolean {
  return table === refreshTables[0]
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
