import { describe, expect, it, onTestFinished } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { createSweepWork, type Sweepable } from '../../../src/domain/sweep/sweeper.js'
import { allCollectionSpecs } from '../../../src/model/collections.js'
import type { Session } from '../../../src/model/sessions.js'
import type { Clock } from '../../../src/ports/host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { recordingLogger } from '../../support/outside/recording-logger.js'
import {
  family,
  hours,
  minutes,
  seconds,
  session,
  startReplica,
  stored,
  tiers,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

/** A leader of an empty store, right after its first cycle and round. */
async function leader() {
  const backend = memory()
  const replica = startReplica(backend)
  await replica.clock.advance(untilFirst)
  return { ...replica, backend, now: replica.clock.now() }
}

describe('the deletion of session documents', () => {
  it('removes a session in any state from its expiresAt on, and no sooner', async () => {
    const { backend, clock, now } = await leader()
    const { auth } = await testAuth({ backend, clock })
    onTestFinished(() => auth.close())
    const { id: userId } = await auth.client.users.create({ email: 'ada@example.org' })
    const at = now + hours
    const between = at + 30 * minutes
    const ended: Partial<Session> = { userId, active: false, endedAt: now, endReason: 'logout' }
    const rows = [at, between].flatMap((when) => [session(when, { userId }), session(when, ended)])
    const { sessions } = stored(backend, 'client')
    for (const row of rows) await sessions.insert(row)
    const kept = async () => Promise.all(rows.map(({ id }) => sessions.get(id)))
    const listed = async () => (await auth.client.sessions.list(userId)).map(({ id }) => id).sort()
    const ids = rows.map(({ id }) => id)
    await clock.advance(hours - 1)
    expect([await kept(), await listed()]).toEqual([rows, ids])
    await clock.advance(1)
    expect(await kept()).toEqual([null, null, ...rows.slice(2)])
    // Until the next round they are there, and readers see none of them.
    await clock.advance(30 * minutes - 1)
    expect(await listed()).toEqual(ids.slice(2))
    await clock.advance(1)
    expect([await kept(), await listed()]).toEqual([[null, null, ...rows.slice(2)], []])
    await clock.advance(30 * minutes)
    expect(await kept()).toEqual([null, null, null, null])
  })

  it('comes 90 days after the login, however long the session goes on', async () => {
    const backend = memory()
    const { auth, clock } = await testAuth({
      backend,
      sweeps: true,
      settings: { sessionAbsoluteTTL: '' },
    })
    onTestFinished(() => auth.close())
    const { sessions, families } = stored(backend, 'client')
    const loginAt = clock.now()
    const day = 24 * hours
    const { id: userId } = await auth.client.users.create({ email: 'ada@example.org' })
    const made = session(loginAt + 90 * day, { userId, loginAt })
    await sessions.insert(made)
    const deadline = loginAt + 400 * day
    await families.insert({ ...family(deadline), id: made.id, userId, loginAt })
    await clock.advance(90 * day - 1)
    expect(await sessions.get(made.id)).toEqual(made)
    await clock.advance(hours)
    expect(await sessions.get(made.id)).toBeNull()
    expect((await families.get(made.id))?.revokedAt).toBeNull()
  })

  it('happens right after acquisition and then every hour', async () => {
    const { clock, count } = await leader()
    for (const times of [1, 2, 3]) {
      expect(count('operator_sessions.sweep')).toBe(times)
      await clock.advance(hours - 1)
      expect(count('operator_sessions.sweep')).toBe(times)
      await clock.advance(1)
    }
  })

  it.each([
    [4999, 1],
    [5000, 2],
    [5001, 2],
    [12_000, 3],
  ])('%d expired sessions go in %d statements of at most 5,000', async (rows, statements) => {
    const { backend, clock, count, now } = await leader()
    const { sessions } = stored(backend, 'operator')
    for (let row = 0; row < rows; row += 1) await sessions.insert(session(now + 1))
    await clock.advance(hours)
    expect(count('operator_sessions.sweep')).toBe(1 + statements)
    expect(count('client_sessions.sweep')).toBe(2)
    expect(await sessions.due(clock.now(), 100_000)).toEqual([])
  })
})

describe('the sweep of everything else', () => {
  it('covers every collection that expires, and the denylist and the counters', async () => {
    const { calls } = await leader()
    const expiring = allCollectionSpecs('').filter(({ expires }) =>
      /^(fixed|sliding)$/.test(expires),
    )
    expect(calls.filter((call) => call.endsWith('.sweep')).sort()).toEqual(
      [...expiring.map(({ name }) => name), 'denylist', 'counter']
        .map((name) => `${name}.sweep`)
        .sort(),
    )
  })

  it('removes links at their time, not before', async () => {
    const { backend, clock, now } = await leader()
    const at = now + hours
    const link = {
      userId: 'u',
      kind: 'verifyEmail',
      secretHash: '',
      credentialEpoch: 0,
      sessionEpoch: 0,
      deviceEpoch: 0,
      boundTo: '',
      attempts: 0,
      payload: {},
    } as const
    const { intents } = stored(backend, 'operator')
    await intents.insert({ id: 't0', ...link, expiresAt: at })
    await intents.insert({ id: 't1', ...link, expiresAt: at + 1 })
    await clock.advance(hours)
    expect(await intents.get('t0')).toBeNull()
    expect(await intents.get('t1')).not.toBeNull()
  })

  it('removes counter windows an hour late and denylist entries a day, as clocks may differ', async () => {
    const { backend, clock, now } = await leader()
    for (const extra of [0, 1]) {
      const expiresAt = now + hours + extra
      await backend.denylist.put([{ id: `d${extra}`, reason: 'revoked', expiresAt }])
      await backend.counter.hit(`c${extra}`, hours + extra, 5, now)
    }
    await clock.advance(hours)
    expect(await backend.denylist.find(['d0', 'd1'])).toHaveLength(2)
    await clock.advance(hours)
    expect(await backend.denylist.find(['d0', 'd1'])).toHaveLength(2)
    // Of the two windows one is left to remove.
    expect(await backend.counter.sweep(clock.now(), 10)).toBe(1)
    for (let hour = 2; hour <= 24; hour += 1) await clock.advance(hours)
    expect(await backend.denylist.find(['d0', 'd1'])).toHaveLength(2)
    await clock.advance(hours)
    expect(await backend.denylist.find(['d0', 'd1'])).toHaveLength(0)
  })

  it.each(tiers)('what fails on the %s surface holds up nothing else', async (tier) => {
    const { clock, calls, count, failNext, logger } = await leader()
    failNext(`${tier}_sessions.sweep`, 'before')
    const before = calls.filter((call) => call.endsWith('.sweep'))
    await clock.advance(hours)
    const after = calls.filter((call) => call.endsWith('.sweep')).slice(before.length)
    expect(after).toEqual(before.filter((call) => !tokenSweeps.includes(call)))
    expect(logger.lines).toMatchObject([
      { level: 'warn', message: `the sweep of ${tier} sessions failed` },
    ])
    // The lease stays, and the next hour tries again.
    await clock.advance(hours)
    expect(count('lease.read')).toBe(1)
    expect(count(`${tier}_sessions.sweep`)).toBe(3)
  })

  it('stops amid a round when the lease is lost', async () => {
    const { clock, calls, count, onCall, failNext } = await leader()
    const before = calls.length
    onCall('client_sessions.sweep', () => failNext('lease.replace', 'before'))
    await clock.advance(hours)
    expect(count('operator_sessions.sweep', 'client_sessions.sweep')).toBe(4)
    expect(count('denylist.sweep')).toBe(1)
    expect(
      calls
        .slice(before)
        .filter((call) => call.endsWith('.sweep'))
        .at(-1),
    ).toBe('client_sessions.sweep')
  })
})

/** The work of a leader whose statements take as long as they say. */
function work(hygiene: readonly Sweepable[], clock: Clock) {
  const cycles: number[] = []
  const swept = createSweepWork(
    {
      tiers: [
        {
          tier: 'client',
          sweep: async (before) => {
            cycles.push(before)
            return { removed: 5000, left: 1 }
          },
        },
      ],
      hygiene,
      backlog: { show() {}, clear() {} },
      clock,
      logger: recordingLogger(),
    },
    { isGood: () => true, confirm: async () => true },
  )
  return { cycles, run: swept.run }
}

describe('a backlog too large for one round', () => {
  it('spends 200 statements of each kind on it and goes on an hour later', async () => {
    let time = 0
    const batches = { endless: 0, empty: 0 }
    const counted = (name: keyof typeof batches, removed: (limit: number) => number) => ({
      name,
      async sweep(_: number, limit: number) {
        batches[name] += 1
        time += seconds
        return removed(limit)
      },
    })
    const { run } = work([counted('endless', (limit) => limit), counted('empty', () => 0)], {
      now: () => time,
      after: () => () => {},
    })
    await run()
    expect(batches).toEqual({ endless: 200, empty: 1 })
    // The hour counts from the beginning of the round, however long that took.
    time = hours - 1
    await run()
    expect(batches).toEqual({ endless: 200, empty: 1 })
    time = hours
    await run()
    expect(batches).toEqual({ endless: 400, empty: 2 })
  })

  it('holds up a cycle by one pass at most', async () => {
    let time = 0
    const { cycles, run } = work(
      [
        {
          name: 'slow',
          async sweep(_, limit) {
            time += 40 * seconds
            return limit
          },
        },
      ],
      { now: () => time, after: () => () => {} },
    )
    expect(await run()).toBeLessThanOrEqual(time + 5 * minutes)
    // 23 statements of 40 s each, the first that ends past a quarter of an hour: two more cycles fell due meanwhile.
    expect([time, cycles]).toEqual([920 * seconds, [0, 320 * seconds, 640 * seconds]])
  })
})
