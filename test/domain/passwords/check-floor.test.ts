import { describe, expect, it } from 'vitest'
import { createCheckFloor } from '../../../src/domain/hashing/password-hashes.js'
import { fakeClock } from '../../../src/testing/fake-clock.js'

const today = { name: 'today', cost: 400 }
const older = { name: 'older', cost: 100 }
const legacy = { name: 'legacy', cost: null }

function rig() {
  const clock = fakeClock()
  const floor = createCheckFloor(clock, today)
  /** A check that takes so long. */
  const check = (kind: typeof today | typeof legacy, ms: number) =>
    floor.timed(kind, async () => {
      await clock.advance(ms)
      return false
    })
  /** How much longer a refusal waits, after a check that took so long. */
  async function rest(startedAt: number): Promise<number> {
    const from = clock.now()
    let isOver = false
    const waiting = floor.reach(startedAt).then(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      if (!isOver) await clock.advance(1)
    }
    await waiting
    return clock.now() - from
  }
  return { clock, check, rest }
}

describe('how long a refusal takes at least', () => {
  it('is as long as a check of the slowest kind, measured from the start of the check', async () => {
    const { check, rest } = rig()
    await check(today, 40)
    await check(legacy, 90)
    const { startedAt } = await check(older, 10)
    expect(await rest(startedAt)).toBe(80)
    const slow = await check(legacy, 90)
    expect(await rest(slow.startedAt)).toBe(0)
  })

  it('is estimated by the costs while no hash of today was checked', async () => {
    const { check, rest } = rig()
    const first = await check(older, 10)
    expect(await rest(first.startedAt)).toBe(30)
    await check(today, 36)
    const second = await check(older, 10)
    expect(await rest(second.startedAt)).toBe(26)
  })

  it('forgets a slow moment little by little', async () => {
    const { check, rest } = rig()
    await check(today, 400)
    const rests: number[] = []
    for (let n = 0; n < 100; n += 1) rests.push(await rest((await check(today, 40)).startedAt))
    expect(rests[0]).toBeGreaterThan(300)
    expect(rests.at(-1)).toBeLessThanOrEqual(1)
    expect([...rests].sort((a, b) => b - a)).toEqual(rests)
  })

  it('is not misled by a clock that is set, forwards or back', async () => {
    const { clock, check, rest } = rig()
    await check(today, 40)
    await check(today, 60 * 60_000)
    const { startedAt } = await check(today, 40)
    expect(await rest(startedAt)).toBe(0)
    // Set back by an hour since: it waits once more, and no hour.
    expect(await rest(clock.now() + 60 * 60_000)).toBe(40)
  })
})
