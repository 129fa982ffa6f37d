import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/system/system-clock.js'

const pendingTimers = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

describe('the system clock', () => {
  it('tells epoch milliseconds', () => {
    const before = Date.now()
    const now = systemClock.now()
    expect(Number.isSafeInteger(now)).toBe(true)
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('calls once, in the order in which things fall due', async () => {
    const order: string[] = []
    await new Promise<void>((resolve) => {
      systemClock.after(30, () => order.push('never'))()
      systemClock.after(20, () => {
        order.push('later')
        resolve()
      })
      systemClock.after(1, () => order.push('soon'))
    })
    expect(order).toEqual(['soon', 'later'])
  })

  it('does not take a delay beyond what timers can hold for none', async () => {
    const fired: string[] = []
    const cancel = systemClock.after(2 ** 31, () => fired.push('at once'))
    await new Promise<void>((resolve) => {
      systemClock.after(5, resolve)
    })
    cancel()
    expect(fired).toEqual([])
  })

  it('has timers that keep no process alive, but for one that somebody awaits', () => {
    const before = pendingTimers()
    const cancel = systemClock.after(60_000, () => {})
    expect(pendingTimers()).toBe(before)
    const awaited = systemClock.after(60_000, () => {}, true)
    expect(pendingTimers()).toBe(before + 1)
    awaited()
    expect(pendingTimers()).toBe(before)
    const held = setTimeout(() => {}, 60_000)
    expect(pendingTimers()).toBe(before + 1)
    clearTimeout(held)
    cancel()
  })
})
