import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/testing/index.js'

describe('the fake clock', () => {
  it('stands still until it is moved', async () => {
    const clock = fakeClock(1000)
    expect(clock.now()).toBe(1000)
    await clock.advance(5)
    expect(clock.now()).toBe(1005)
    await clock.advance(0)
    expect(clock.now()).toBe(1005)
  })

  it('runs timers in order, each at its own time', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    const note = (name: string) => () => log.push(`${name}@${clock.now()}`)
    clock.after(30, note('c'))
    clock.after(10, note('a'))
    clock.after(10, note('b'))
    clock.after(41, note('late'))
    await clock.advance(40)
    expect(log).toEqual(['a@10', 'b@10', 'c@30'])
    expect(clock.now()).toBe(40)
    await clock.advance(1)
    expect(log).toEqual(['a@10', 'b@10', 'c@30', 'late@41'])
    await clock.advance(1000)
    expect(log).toHaveLength(4)
  })

  it('a timer that was called off never runs', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    const off = clock.after(10, () => log.push('ran'))
    clock.after(5, off)
    await clock.advance(20)
    off()
    expect(log).toEqual([])
  })

  it('lets what a timer set going run before the next timer', async () => {
    const clock = fakeClock(0)
    const log: string[] = []
    const slow = async () => {
      for (let step = 0; step < 50; step++) await Promise.resolve()
      log.push(`slow@${clock.now()}`)
      clock.after(5, () => log.push(`set late@${clock.now()}`))
    }
    clock.after(10, () => void slow())
    clock.after(20, () => log.push(`next@${clock.now()}`))
    await clock.advance(30)
    expect(log).toEqual(['slow@10', 'set late@15', 'next@20'])
  })

  it('sees the timer of what was under way when it was moved', async () => {
    const clock = fakeClock(0)
    const log: number[] = []
    const work = async () => {
      for (let round = 0; round < 3; round++) {
        await Promise.resolve()
        await new Promise<void>((resolve) => clock.after(10, resolve))
        log.push(clock.now())
      }
    }
    const working = work()
    await clock.advance(100)
    expect(log).toEqual([10, 20, 30])
    await working
  })

  it('runs a timer of no or negative delay at once, when moved by nothing', async () => {
    const clock = fakeClock(7)
    const log: number[] = []
    clock.after(0, () => log.push(clock.now()))
    clock.after(-5, () => log.push(clock.now()))
    expect(log).toEqual([])
    await clock.advance(0)
    expect(log).toEqual([7, 7])
  })

  it('rejects with what a timer throws, and never moves back', async () => {
    const clock = fakeClock(0)
    clock.after(1, () => {
      throw new Error('timer failed')
    })
    await expect(clock.advance(2)).rejects.toThrow('timer failed')
    await expect(clock.advance(-1)).rejects.toThrow(RangeError)
    await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError)
    expect(clock.now()).toBe(1)
  })

  it('tells whole milliseconds whatever its timers ask for, as a system clock does', async () => {
    const clock = fakeClock(0)
    const log: number[] = []
    clock.after(10.9, () => log.push(clock.now()))
    await clock.advance(11)
    expect(log).toEqual([10])
    await expect(clock.advance(0.5)).rejects.toThrow(RangeError)
    expect(() => fakeClock(0.5)).toThrow(RangeError)
  })
})
