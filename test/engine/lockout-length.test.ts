import { describe, expect, it } from 'vitest'
import { lockoutLength } from '../../src/engine/limits.js'

const minute = 60_000
const day = 24 * 60 * minute

describe('the length of a lockout', () => {
  it('doubles each time, up to a day', () => {
    const lengths = Array.from({ length: 9 }, (_, n) => lockoutLength(15 * minute, n + 1) / minute)
    expect(lengths).toEqual([15, 30, 60, 120, 240, 480, 960, 1440, 1440])
  })

  it('is never shorter than the first, and finite however many there were', () => {
    expect(lockoutLength(day, 1)).toBe(day)
    expect(lockoutLength(day, 2)).toBe(day)
    expect(lockoutLength(minute, 100_000)).toBe(day)
  })
})
