import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import {
  expectNextContention,
  expiredRows,
  fullStore,
  heldCall,
  leaseName,
  minutes,
  ownerOf,
  seconds,
  startReplica,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

describe('a lease that others took', () => {
  /** What a replica that did not keep to the takeover rule would do. */
  async function steal(backend: Backend): Promise<void> {
    const seen = await backend.lease.read(leaseName)
    const next = { owner: 'thief', renewal: (seen?.renewal ?? 0) + 1 }
    expect(await backend.lease.replace(leaseName, seen, next)).toBe(true)
  }

  it.each([
    ['by a renewal', 3 * minutes, 20 * seconds],
    ['by the cycle that falls due', 5 * minutes - 1, 1],
  ])('during a wait: noticed %s, and nothing is deleted any more', async (_, at, later) => {
    const backend = await fullStore()
    const replica = startReplica(backend)
    await replica.clock.advance(untilFirst + at)
    await steal(backend)
    await replica.clock.advance(later)
    expect(replica.count(...tokenSweeps)).toBe(2)
    expect(replica.logger.lines).toMatchObject([
      { level: 'warn', fields: { reason: 'another replica has taken it' } },
    ])
    await expectNextContention(replica, 5 * minutes)
    expect(await ownerOf(backend)).toBe('thief')
  })

  it('amid a drain: no statement after the one under way', async () => {
    const backend = await fullStore()
    const replica = startReplica(backend)
    const slow = heldCall()
    replica.onCall('operator_refresh_tokens.sweep', slow.hook)
    await replica.clock.advance(untilFirst)
    await steal(backend)
    await slow.goOn()
    expect(replica.calls.filter((call) => call.endsWith('.sweep'))).toHaveLength(1)
    expect(await ownerOf(backend)).toBe('thief')
    await expectNextContention(replica, 5 * minutes)
  })
})

describe('a process that stands still', () => {
  /** A replica whose clock can jump without its timers running, as after SIGSTOP and SIGCONT. */
  function stoppable(backend: Backend) {
    const clock = fakeClock()
    let slept = 0
    const seen = { now: () => clock.now() + slept, after: clock.after }
    return {
      ...startReplica(backend, clock, seen),
      sleep(ms: number) {
        slept += ms
      },
    }
  }

  it('past its lease deletes at most the one statement under way', async () => {
    const backend = await fullStore()
    const holder = stoppable(backend)
    const slow = heldCall()
    holder.onCall('operator_refresh_tokens.sweep', slow.hook)
    await holder.clock.advance(untilFirst)
    const other = startReplica(backend)
    await other.clock.advance(untilFirst + minutes)
    expect(await expiredRows(backend, other.clock.now())).toEqual([15_000, 15_000])

    holder.sleep(2 * minutes)
    await slow.goOn()
    expect(await expiredRows(backend, other.clock.now())).toEqual([10_000, 15_000])
    await expectNextContention(holder, 5 * minutes)
    expect(holder.calls.filter((call) => call.endsWith('.sweep'))).toHaveLength(1)
    expect(holder.logger.lines).toMatchObject([
      { level: 'warn', fields: { reason: 'not renewed within 60000 ms' } },
    ])
  })

  it('past its lease does no more even where nobody took it over', async () => {
    const holder = stoppable(await fullStore())
    const slow = heldCall()
    holder.onCall('operator_refresh_tokens.sweep', slow.hook)
    await holder.clock.advance(untilFirst)
    holder.sleep(minutes)
    await slow.goOn()
    expect(holder.count(...tokenSweeps)).toBe(1)
    // The record names it still, so that it needs nobody's leave at its next contention.
    await expectNextContention(holder, 5 * minutes)
    expect(holder.count(...tokenSweeps)).toBe(3)
  })

  it('one millisecond short of the lease time goes on', async () => {
    const holder = stoppable(await fullStore())
    const slow = heldCall()
    holder.onCall('operator_refresh_tokens.sweep', slow.hook)
    await holder.clock.advance(untilFirst)
    holder.sleep(minutes - 1)
    await slow.goOn()
    expect(holder.count(...tokenSweeps)).toBe(2)
  })

  it('in a wait: wakes up as nobody, without a renewal or a delete', async () => {
    const holder = stoppable(await fullStore())
    await holder.clock.advance(untilFirst)
    const before = holder.calls.length
    holder.sleep(10 * minutes)
    await holder.clock.advance(20 * seconds)
    expect(holder.calls.slice(before)).toEqual([])
    await expectNextContention(holder, 5 * minutes)
  })

  it('counts from the beginning of a renewal, however late its answer', async () => {
    const holder = stoppable(memory())
    await holder.clock.advance(untilFirst)
    const renewal = heldCall()
    holder.onCall('lease.replace', renewal.hook)
    await holder.clock.advance(20 * seconds)
    holder.sleep(50 * seconds)
    await renewal.goOn()
    holder.sleep(10 * seconds)
    await holder.clock.advance(0)
    expect(holder.logger.lines).toMatchObject([
      { fields: { reason: 'not renewed within 60000 ms' } },
    ])
  })

  it('while it acquires: a lease granted too late is not used', async () => {
    const holder = stoppable(await fullStore())
    const slow = heldCall()
    holder.onCall('lease.replace', slow.hook)
    await holder.clock.advance(untilFirst)
    holder.sleep(minutes)
    await slow.goOn()
    expect(holder.calls).toEqual(['lease.read', 'lease.replace'])
    await expectNextContention(holder, 5 * minutes)
  })
})

describe('takeover from a dead replica', () => {
  /** Two replicas; the first holds the lease and dies `diesAfter` its acquisition. */
  async function deadHolder(diesAfter: number) {
    const backend = await fullStore()
    const dead = startReplica(backend)
    await dead.clock.advance(untilFirst)
    const heir = startReplica(backend)
    // From here on both clocks show the same; the dead one's just stops.
    await heir.clock.advance(untilFirst)
    for (let at = 0; at < diesAfter; at += 10 * seconds) {
      await dead.clock.advance(10 * seconds)
      await heir.clock.advance(10 * seconds)
    }
    return { backend, dead, heir }
  }

  it('happens at the next contention, once the lease stood still for 60 s', async () => {
    const { backend, dead, heir } = await deadHolder(2 * minutes)
    const owner = await ownerOf(backend)
    expect(heir.count('lease.read')).toBe(2)
    await heir.clock.advance(3 * minutes)
    expect(heir.count('lease.read')).toBe(3)
    await heir.clock.advance(minutes - 1)
    expect([await ownerOf(backend), heir.count(...tokenSweeps)]).toEqual([owner, 0])
    await heir.clock.advance(1)
    expect(await ownerOf(backend)).not.toBe(owner)
    expect([heir.count(...tokenSweeps), dead.count(...tokenSweeps)]).toEqual([2, 2])
  })

  it('happens at once at a contention, where the lease has stood still since the last', async () => {
    // The last renewal falls between the two looks of the contention that begins in minute five.
    const { heir } = await deadHolder(5 * minutes + 50 * seconds)
    await heir.clock.advance(10 * seconds)
    expect(heir.count('lease.read')).toBe(4)
    await heir.clock.advance(4 * minutes - 1)
    expect(heir.count(...tokenSweeps)).toBe(0)
    await heir.clock.advance(1)
    expect(heir.count(...tokenSweeps)).toBe(2)
    expect(heir.count('lease.read')).toBe(5)
  })

  it('of two heirs at once one becomes leader', async () => {
    const backend = await fullStore()
    await backend.lease.replace(leaseName, null, { owner: 'dead', renewal: 41 })
    const clock = fakeClock()
    const heirs = [startReplica(backend, clock), startReplica(backend, clock)]
    await clock.advance(untilFirst + minutes)
    expect(heirs.map((heir) => heir.count(...tokenSweeps)).sort()).toEqual([0, 2])
    expect(heirs.map((heir) => heir.count('lease.replace') > 1).sort()).toEqual([false, true])
  })
})
