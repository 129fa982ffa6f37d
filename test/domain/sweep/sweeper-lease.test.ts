import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import {
  expectNextContention,
  expiredRows,
  fillFamilies,
  fullStore,
  heldCall,
  hours,
  leaseName,
  minutes,
  ownerOf,
  type Replica,
  renewalOf,
  seconds,
  startReplica,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

describe('one replica sweeps at a time', () => {
  it('three replicas on one store remove 5,000 per tier per cycle together', async () => {
    const backend = await fullStore()
    const clock = fakeClock()
    const replicas = [1, 2, 3].map(() => startReplica(backend, clock))
    const logged = () => replicas.flatMap((replica) => replica.logger.lines)
    const statements = () => replicas.map((replica) => replica.count(...tokenSweeps))
    await clock.advance(untilFirst)
    for (const cycle of [1, 2, 3]) {
      const left = 20_000 - 5000 * cycle
      expect(await expiredRows(backend, clock.now())).toEqual([left, left])
      expect(statements().sort()).toEqual([0, 0, 2 * cycle])
      expect(logged()).toEqual([])
      await clock.advance(5 * minutes)
    }
  })

  it.each([
    ['5 minutes', 5 * minutes, 20_000],
    ['6 hours', 6 * hours, 0],
  ])('the lease is held and renewed every 20 s through a wait of %s', async (_, wait, rows) => {
    const backend = memory()
    await fillFamilies(backend, 'client', rows, 1)
    const clock = fakeClock()
    const leader = startReplica(backend, clock)
    await clock.advance(untilFirst)
    const owner = await ownerOf(backend)
    const others = [startReplica(backend, clock), startReplica(backend, clock)]
    for (let at = 20 * seconds; at < wait; at += 20 * seconds) {
      const renewal = await renewalOf(backend)
      await clock.advance(20 * seconds - 1)
      expect(await renewalOf(backend)).toBe(renewal)
      await clock.advance(1)
      expect(await ownerOf(backend)).toBe(owner)
      // Once an hour everything else is swept as well, and each statement renews.
      const renewals = (await renewalOf(backend)) - renewal
      if (at % hours === 0) expect(renewals).toBeGreaterThan(1)
      else expect(renewals).toBe(1)
    }
    for (const other of others) {
      expect(other.count('lease.read')).toBeGreaterThanOrEqual(2)
      expect(other.count('lease.replace', ...tokenSweeps)).toBe(0)
    }
    expect(leader.count(...tokenSweeps)).toBe(2)
  })

  it('the lease stays with one replica through a drain and through both waits', async () => {
    const backend = memory()
    await fillFamilies(backend, 'operator', 12_000, 1)
    const clock = fakeClock()
    const leader = startReplica(backend, clock)
    const slow = heldCall()
    leader.onCall('operator_refresh_tokens.sweep', slow.hook)
    await clock.advance(untilFirst)
    const owner = await ownerOf(backend)
    const others = [startReplica(backend, clock), startReplica(backend, clock)]
    const passes = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10 * seconds) {
        await clock.advance(10 * seconds)
        expect(await ownerOf(backend)).toBe(owner)
      }
    }
    // A statement that takes three minutes, …
    await passes(3 * minutes)
    expect(leader.count(...tokenSweeps)).toBe(1)
    await slow.goOn()
    // … the waits for what is left, …
    await passes(12 * minutes)
    expect(await expiredRows(backend, clock.now())).toEqual([0, 0])
    const swept = leader.count(...tokenSweeps)
    // … and a dry sweep's.
    await passes(5 * hours)
    expect(leader.count(...tokenSweeps)).toBe(swept)
    for (const other of others) {
      expect(other.count('lease.read')).toBeGreaterThan(60)
      expect(other.count('lease.replace', ...tokenSweeps)).toBe(0)
    }
  })

  it('the lease is renewed while a drain is under way', async () => {
    const backend = await fullStore()
    const leader = startReplica(backend)
    const slow = heldCall()
    leader.onCall('operator_refresh_tokens.sweep', slow.hook)
    await leader.clock.advance(untilFirst)
    const renewal = await renewalOf(backend)
    await leader.clock.advance(3 * minutes)
    expect(await renewalOf(backend)).toBe(renewal + 9)
    expect(leader.count(...tokenSweeps)).toBe(1)
    await slow.goOn()
    expect(leader.count(...tokenSweeps)).toBe(2)
  })

  it('no clocks of two machines are compared', async () => {
    const backend = memory()
    const start = Date.UTC(2030, 0, 1)
    const clocks = [0, hours, -hours].map((skew) => fakeClock(start + skew))
    const replicas = clocks.map((clock) => startReplica(backend, clock))
    const owners = new Set<unknown>()
    for (let passed = 0; passed < hours; passed += 10 * seconds) {
      for (const clock of clocks) await clock.advance(10 * seconds)
      owners.add(await ownerOf(backend))
    }
    expect(owners.size).toBe(1)
    expect(replicas.map((replica) => replica.count('lease.replace') > 0)).toEqual([
      true,
      false,
      false,
    ])
    expect(replicas.map((replica) => replica.count('lease.read'))).toEqual([1, 24, 24])
  })
})

describe('a lease store that fails', () => {
  it.each([
    ['lease.read', 'before'],
    ['lease.replace', 'before'],
    ['lease.replace', 'after'],
  ] as const)(
    'in acquiring (%s, %s): nothing is swept, a new attempt 5 minutes later',
    async (call, mode) => {
      const replica = startReplica(await fullStore())
      replica.failNext(call, mode)
      await replica.clock.advance(untilFirst)
      expect(replica.count(...tokenSweeps)).toBe(0)
      await expectNextContention(replica, 5 * minutes)
      expect(replica.count(...tokenSweeps)).toBe(2)
    },
  )

  it('in watching a held lease: a new attempt 5 minutes later', async () => {
    const backend = await fullStore()
    await backend.lease.replace(leaseName, null, { owner: 'dead', renewal: 1 })
    const replica = startReplica(backend)
    await replica.clock.advance(untilFirst)
    replica.failNext('lease.read', 'before')
    await replica.clock.advance(minutes)
    expect(replica.calls).toEqual(['lease.read', 'lease.read'])
    await expectNextContention(replica, 5 * minutes)
    expect(replica.count(...tokenSweeps)).toBe(2)
  })

  it.each(['before', 'after'] as const)('in a renewal during a wait (%s)', async (mode) => {
    const replica = startReplica(await fullStore())
    await replica.clock.advance(untilFirst + 4 * minutes)
    replica.failNext('lease.replace', mode)
    await replica.clock.advance(20 * seconds)
    expect(replica.count(...tokenSweeps)).toBe(2)
    // The cycle of minute five is not done.
    await expectNextContention(replica, 5 * minutes)
    expect(replica.count(...tokenSweeps)).toBe(4)
  })

  it('in a renewal during the long wait of a dry sweep', async () => {
    const replica = startReplica(memory())
    await replica.clock.advance(untilFirst + 5 * seconds)
    replica.failNext('lease.replace', 'before')
    await replica.clock.advance(15 * seconds)
    await expectNextContention(replica, 5 * minutes)
  })

  it.each(['before', 'after'] as const)('in a renewal amid a drain (%s)', async (mode) => {
    const backend = await fullStore()
    const replica = startReplica(backend)
    const slow = heldCall()
    replica.onCall('operator_refresh_tokens.sweep', slow.hook)
    await replica.clock.advance(untilFirst)
    replica.failNext('lease.replace', mode)
    await replica.clock.advance(20 * seconds)
    await slow.goOn()
    // The statement under way ended; no other began, of any kind.
    expect(replica.calls.filter((call) => call.endsWith('.sweep'))).toHaveLength(1)
    expect(await expiredRows(backend, replica.clock.now())).toEqual([15_000, 20_000])
    await expectNextContention(replica, 5 * minutes)
    expect(replica.count(...tokenSweeps)).toBe(3)
  })

  it('for hours: an attempt every 5 minutes, nothing swept, nothing unhandled', async () => {
    const replica = startReplica(await fullStore())
    const unhandled: unknown[] = []
    const listen = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listen)
    try {
      replica.failNext('lease.read', 'before', Number.POSITIVE_INFINITY)
      await replica.clock.advance(untilFirst + 3 * hours)
      expect(replica.count('lease.read')).toBe(37)
      expect(replica.calls).toHaveLength(37)
      expect(replica.logger.lines).toHaveLength(37)
      expect(new Set(replica.logger.lines.map(({ message }) => message))).toEqual(
        new Set(['the sweep lease could not be reached; contending again in five minutes']),
      )
      replica.heal()
      await replica.clock.advance(5 * minutes)
      expect(replica.count(...tokenSweeps)).toBe(2)
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', listen)
    }
  })
})

it('a lease that cannot be reached or was lost ends the sweep, for five minutes', async () => {
  const later = untilFirst + 4 * minutes
  const ways: Readonly<Record<string, (replica: Replica, backend: Backend) => Promise<void>>> = {
    'not reached at the first attempt': async (replica) => {
      replica.failNext('lease.read', 'before')
      await replica.clock.advance(untilFirst)
    },
    'not reached in a wait': async (replica) => {
      await replica.clock.advance(later)
      replica.failNext('lease.replace', 'before')
      await replica.clock.advance(20 * seconds)
    },
    'not reached amid a drain': async (replica) => {
      const slow = heldCall()
      replica.onCall('operator_refresh_tokens.sweep', slow.hook)
      await replica.clock.advance(untilFirst)
      replica.failNext('lease.replace', 'before')
      await replica.clock.advance(20 * seconds)
      await slow.goOn()
    },
    'taken by another in a wait': async (replica, backend) => {
      await replica.clock.advance(later)
      const seen = await backend.lease.read(leaseName)
      await backend.lease.replace(leaseName, seen, { owner: 'another', renewal: 1 })
      await replica.clock.advance(20 * seconds)
    },
  }
  for (const [way, lose] of Object.entries(ways)) {
    const backend = await fullStore()
    const replica = startReplica(backend)
    await lose(replica, backend)
    const swept = () => replica.calls.filter((call) => call.endsWith('.sweep')).length
    const before = swept()
    const contended = replica.count('lease.read')
    await replica.clock.advance(5 * minutes - 1)
    expect([way, swept(), replica.count('lease.read')]).toEqual([way, before, contended])
    await replica.clock.advance(1)
    expect([way, replica.count('lease.read')]).toEqual([way, contended + 1])
    // Where it is held by no other, it goes on.
    if (way.startsWith('not')) expect(swept()).toBeGreaterThan(before)
    else expect(swept()).toBe(before)
    await replica.sweeper.close()
  }
})

describe('a clock that steps back', () => {
  it('never puts off the next contention by more than five minutes', async () => {
    const backend = memory()
    const steady = fakeClock()
    const leader = startReplica(backend, steady)
    await steady.advance(untilFirst)
    let behind = 0
    const other = startReplica(backend, steady, {
      ...steady,
      now: () => steady.now() - behind,
    })
    // It finds the lease held, and its clock steps back by an hour while it watches the lease.
    await steady.advance(untilFirst)
    behind = hours
    await steady.advance(1 * minutes)
    await leader.sweeper.close()
    const before = other.count('lease.replace')
    await steady.advance(5 * minutes)
    expect(other.count('lease.replace')).toBeGreaterThan(before)
  })
})
