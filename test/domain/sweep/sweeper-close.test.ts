import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import {
  expiredRows,
  fullStore,
  heldCall,
  hours,
  leaseName,
  minutes,
  ownerOf,
  renewalOf,
  seconds,
  startReplica,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

describe('close', () => {
  it('releases the lease, and another replica takes it at once at its next contention', async () => {
    const backend = await fullStore()
    const leader = startReplica(backend)
    await leader.clock.advance(untilFirst)
    const heir = startReplica(backend, leader.clock)
    await heir.clock.advance(untilFirst + 2 * minutes)
    const renewal = await renewalOf(backend)
    await leader.sweeper.close()
    expect(await backend.lease.read(leaseName)).toEqual({ owner: null, renewal: renewal + 1 })
    await heir.clock.advance(3 * minutes - 1)
    expect(heir.count(...tokenSweeps)).toBe(0)
    await heir.clock.advance(1)
    expect(heir.count(...tokenSweeps)).toBe(2)
  })

  it('releases the lease also when a renewal under way then fails, and tells of no loss', async () => {
    const backend = memory()
    const leader = startReplica(backend)
    await leader.clock.advance(untilFirst)
    const slow = heldCall()
    leader.onCall('lease.replace', slow.hook)
    await leader.clock.advance(20 * seconds)
    leader.failNext('lease.replace', 'before')
    const closing = leader.sweeper.close()
    await slow.goOn()
    await closing
    expect(await ownerOf(backend)).toBeNull()
    expect(leader.logger.lines).toEqual([])
  })

  it('stops every timer: nothing happens any more', async () => {
    const leader = startReplica(await fullStore())
    await leader.clock.advance(untilFirst)
    await leader.sweeper.close()
    const calls = leader.calls.length
    await leader.clock.advance(24 * hours)
    expect(leader.calls).toHaveLength(calls)
  })

  it.each([
    ['before the first contention', 0],
    ['in a wait', untilFirst],
    ['while it renews the lease', untilFirst + 20 * seconds],
  ])('%s leaves no timer behind', async (_, at) => {
    const clock = fakeClock()
    const timers = new Set<object>()
    const replica = startReplica(memory(), clock, {
      now: clock.now,
      after(ms, run) {
        const timer = {}
        timers.add(timer)
        const cancel = clock.after(ms, () => {
          timers.delete(timer)
          run()
        })
        return () => {
          timers.delete(timer)
          cancel()
        }
      },
    })
    await clock.advance(Math.min(at, untilFirst))
    const slow = heldCall()
    if (at > untilFirst) replica.onCall('lease.replace', slow.hook)
    await clock.advance(Math.max(0, at - untilFirst))
    expect(timers.size).toBeGreaterThan(0)
    const closing = replica.sweeper.close()
    await slow.goOn()
    await closing
    expect(timers.size).toBe(0)
  })

  it('may be called again, during and after', async () => {
    const leader = startReplica(memory())
    await leader.clock.advance(untilFirst)
    const before = leader.count('lease.replace')
    await Promise.all([leader.sweeper.close(), leader.sweeper.close()])
    await leader.sweeper.close()
    expect(leader.count('lease.replace')).toBe(before + 1)
  })

  it('waits for the statement under way and begins no other', async () => {
    const backend = await fullStore()
    const leader = startReplica(backend)
    const slow = heldCall()
    leader.onCall('operator_refresh_tokens.sweep', slow.hook)
    await leader.clock.advance(untilFirst)
    let closed = false
    const closing = leader.sweeper.close().then(() => {
      closed = true
    })
    await leader.clock.advance(10 * seconds)
    expect([closed, await ownerOf(backend)]).toEqual([false, expect.any(String)])
    await slow.goOn()
    await closing
    expect(await expiredRows(backend, leader.clock.now())).toEqual([15_000, 20_000])
    expect(await ownerOf(backend)).toBeNull()
  })

  it('before the first contention: no call is ever made', async () => {
    const replica = startReplica(memory())
    await replica.clock.advance(untilFirst - 1)
    await replica.sweeper.close()
    await replica.clock.advance(hours)
    expect(replica.calls).toEqual([])
  })

  it('while it watches the lease of another: takes it no more', async () => {
    const backend = memory()
    await backend.lease.replace(leaseName, null, { owner: 'other', renewal: 1 })
    const replica = startReplica(backend)
    await replica.clock.advance(untilFirst + 30 * seconds)
    await replica.sweeper.close()
    await replica.clock.advance(hours)
    expect(replica.calls).toEqual(['lease.read'])
  })

  it('while it acquires the lease: gives it back without sweeping', async () => {
    const backend = await fullStore()
    const replica = startReplica(backend)
    const slow = heldCall()
    replica.onCall('lease.replace', slow.hook)
    await replica.clock.advance(untilFirst)
    const closing = replica.sweeper.close()
    await slow.goOn()
    await closing
    expect(replica.calls).toEqual(['lease.read', 'lease.replace', 'lease.replace'])
    expect(await backend.lease.read(leaseName)).toEqual({ owner: null, renewal: 2 })
  })

  it('while it renews the lease: releases what the renewal wrote', async () => {
    const backend = memory()
    const replica = startReplica(backend)
    await replica.clock.advance(untilFirst)
    const renewal = await renewalOf(backend)
    const slow = heldCall()
    replica.onCall('lease.replace', slow.hook)
    await replica.clock.advance(20 * seconds)
    const closing = replica.sweeper.close()
    await slow.goOn()
    await closing
    expect(await backend.lease.read(leaseName)).toEqual({ owner: null, renewal: renewal + 2 })
  })

  it('between losing the lease and contending again: ends at once', async () => {
    const replica = startReplica(memory())
    await replica.clock.advance(untilFirst)
    replica.failNext('lease.replace', 'before')
    await replica.clock.advance(minutes)
    const calls = replica.calls.length
    await replica.sweeper.close()
    await replica.clock.advance(hours)
    expect(replica.calls).toHaveLength(calls)
  })

  it('resolves where the lease cannot be released, and says so', async () => {
    const backend = memory()
    const replica = startReplica(backend)
    await replica.clock.advance(untilFirst)
    replica.failNext('lease.replace', 'before')
    await replica.sweeper.close()
    expect(replica.logger.lines).toMatchObject([
      { level: 'warn', message: 'the sweep lease could not be released' },
    ])
    expect(await ownerOf(backend)).not.toBeNull()
  })
})
