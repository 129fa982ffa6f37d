import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'
import {
  expiredRows,
  family,
  fillFamilies,
  heldCall,
  hours,
  minutes,
  seconds,
  startReplica,
  stored,
  tiers,
  tokenSweeps,
  untilFirst,
} from './sweeper-rig.js'

/** A store with so many expired refresh rows, and one replica, right before its first contention. */
async function oneReplica(operator: number, client: number) {
  const backend = memory()
  const clock = fakeClock()
  await fillFamilies(backend, 'operator', operator, clock.now())
  await fillFamilies(backend, 'client', client, clock.now())
  const replica = startReplica(backend, clock)
  await clock.advance(untilFirst - 1)
  return { ...replica, backend, left: () => expiredRows(backend, clock.now()) }
}

describe('the refresh-token sweep', () => {
  it('12,000 per tier: 5,000 and 5,000 a cycle, shown by the gauge', async () => {
    const { clock, left, scrape, count } = await oneReplica(12_000, 12_000)
    expect(count(...tokenSweeps)).toBe(0)
    expect(await scrape()).toEqual({})
    await clock.advance(1)
    expect(await left()).toEqual([7000, 7000])
    expect(await scrape()).toEqual({ operator: 7000, client: 7000 })
    await clock.advance(5 * minutes)
    expect(await left()).toEqual([2000, 2000])
    expect(await scrape()).toEqual({ operator: 2000, client: 2000 })
    await clock.advance(5 * minutes)
    expect(await left()).toEqual([0, 0])
    expect(await scrape()).toEqual({ operator: 0, client: 0 })
    expect(count(...tokenSweeps)).toBe(6)
  })

  it.each([
    [4999, 0, 6 * hours],
    [5000, 0, 6 * hours],
    [5001, 1, 5 * minutes],
  ])('of %d expired rows the first cycle leaves %d', async (rows, rest, wait) => {
    const { clock, left, count } = await oneReplica(rows, 0)
    await clock.advance(1)
    expect(await left()).toEqual([rest, 0])
    await clock.advance(wait - 1)
    expect(count(...tokenSweeps)).toBe(2)
    await clock.advance(1)
    expect(count(...tokenSweeps)).toBe(4)
    expect(await left()).toEqual([0, 0])
  })

  it.each([
    ['operator', 5001, 0],
    ['client', 0, 5001],
    ['operator and the client', 5001, 5001],
  ])('the next cycle is exactly 5 minutes later while the %s tier has more', async (...given) => {
    const { clock, calls, count } = await oneReplica(given[1], given[2])
    await clock.advance(1)
    await clock.advance(5 * minutes - 1)
    expect(count(...tokenSweeps)).toBe(2)
    await clock.advance(1)
    expect(calls.filter((call) => tokenSweeps.includes(call))).toEqual([
      ...tokenSweeps,
      ...tokenSweeps,
    ])
  })

  it('once dry the next cycle is exactly 6 hours later, and so on', async () => {
    const { clock, count } = await oneReplica(0, 0)
    await clock.advance(1)
    for (const cycles of [1, 2, 3]) {
      expect(count(...tokenSweeps)).toBe(2 * cycles)
      await clock.advance(6 * hours - 1)
      expect(count(...tokenSweeps)).toBe(2 * cycles)
      await clock.advance(1)
    }
  })

  it('rows that expire while dry wait for the next cycle', async () => {
    const { backend, clock, left } = await oneReplica(0, 0)
    await clock.advance(1)
    await fillFamilies(backend, 'client', 10, clock.now() + minutes)
    await clock.advance(6 * hours - 1)
    expect(await left()).toEqual([0, 10])
    await clock.advance(1)
    expect(await left()).toEqual([0, 0])
  })

  it('removes by expiry alone: rotated and revoked rows stay until theirs', async () => {
    const { backend, clock } = await oneReplica(0, 0)
    const now = clock.now() + 1
    const revoked = { revokedAt: now - 1, revokedReason: 'logout' } as const
    const rows = [
      family(now),
      family(now, revoked),
      family(now, { generation: 9, rotatedAt: now - 1 }),
      family(now + 1),
      family(now + 1, revoked),
      family(now + 1, { generation: 9, rotatedAt: now - 1 }),
    ]
    const { families } = stored(backend, 'client')
    for (const row of rows) await families.insert(row)
    await clock.advance(1)
    const kept = await Promise.all(rows.map(({ id }) => families.get(id)))
    expect(kept).toEqual([null, null, null, ...rows.slice(3)])
  })

  it('a row whose session goes on is not removed by a sweep that races it', async () => {
    const { backend, clock, onCall, calls } = await oneReplica(0, 0)
    const { families } = stored(backend, 'client')
    const row = family(clock.now() + 1)
    await families.insert(row)
    onCall('client_refresh_tokens.sweep', async () => {
      await families.update(row.id, { generation: 1 }, { expiresAt: clock.now() + hours })
    })
    await clock.advance(1)
    expect(calls).toContain('client_refresh_tokens.sweep')
    expect(await families.get(row.id)).not.toBeNull()
  })

  it.each(tiers)('a failing statement on the %s tier harms nothing else', async (tier) => {
    const other = tier === 'operator' ? 'client' : 'operator'
    const { clock, failNext, count, scrape, logger, left } = await oneReplica(10, 10)
    failNext(`${tier}_refresh_tokens.sweep`, 'before')
    await clock.advance(1)
    expect(await scrape()).toEqual({ [other]: 0 })
    expect(logger.lines.map(({ message }) => message)).toEqual([
      `the sweep of refresh tokens, tier ${tier} failed`,
    ])
    // It is not tried again in the same cycle, and the lease is not given up for it.
    expect(count(...tokenSweeps)).toBe(2)
    await clock.advance(5 * minutes - 1)
    expect(count(...tokenSweeps)).toBe(2)
    await clock.advance(1)
    expect(await left()).toEqual([0, 0])
    expect(await scrape()).toEqual({ operator: 0, client: 0 })
    expect(count('lease.read')).toBe(1)
  })

  it('a statement whose answer is lost is not repeated within the cycle', async () => {
    const { clock, failNext, left } = await oneReplica(12_000, 0)
    failNext('operator_refresh_tokens.sweep', 'after')
    await clock.advance(1)
    expect(await left()).toEqual([7000, 0])
    await clock.advance(5 * minutes - 1)
    expect(await left()).toEqual([7000, 0])
    await clock.advance(1)
    expect(await left()).toEqual([2000, 0])
  })

  it('without the sweep rows stay for ever', async () => {
    const { sweeper, clock, left } = await oneReplica(10, 10)
    await sweeper.close()
    await clock.advance(48 * hours)
    expect(await left()).toEqual([10, 10])
  })

  it('a cycle counts from its start, however long its statements take', async () => {
    const { clock, onCall, count } = await oneReplica(5001, 0)
    const slow = heldCall()
    onCall('operator_refresh_tokens.sweep', slow.hook)
    await clock.advance(1)
    await clock.advance(3 * seconds)
    await slow.goOn()
    await clock.advance(5 * minutes - 3 * seconds - 1)
    expect(count(...tokenSweeps)).toBe(2)
    await clock.advance(1)
    expect(count(...tokenSweeps)).toBe(4)
  })
})
