import { describe, expect, it } from 'vitest'
import { oncePerWindow } from '../../src/engine/limits.js'

describe('oncePerWindow', () => {
  it('is true for the first of each window, which ends after its length', () => {
    const isFirst = oncePerWindow()
    expect([0, 1, 99, 100, 101, 199, 200].map((now) => isFirst('a', 100, now))).toEqual([
      ...[true, false, false, true, false, false, true],
    ])
  })

  it('keeps keys apart', () => {
    const isFirst = oncePerWindow()
    expect(['a', 'b', 'a', 'b'].map((key) => isFirst(key, 100, 5))).toEqual([
      ...[true, true, false, false],
    ])
  })

  it('begins anew when the clock stepped back', () => {
    const isFirst = oncePerWindow()
    expect([1000, 1050, 900, 950, 1000].map((now) => isFirst('a', 100, now))).toEqual([
      ...[true, false, true, false, true],
    ])
  })

  it('forgets the oldest of ten thousand, and no more', () => {
    const isFirst = oncePerWindow()
    for (let n = 0; n <= 10_000; n += 1) isFirst(`key ${n}`, 100, 0)
    expect(isFirst('key 2', 100, 1)).toBe(false)
    expect(isFirst('key 0', 100, 1)).toBe(true)
  })

  it('keeps ten thousand, of which one whose window began again is the newest', () => {
    const isFirst = oncePerWindow()
    for (let n = 0; n < 10_000; n += 1) isFirst(`key ${n}`, 100, 0)
    expect(isFirst('key 0', 100, 1)).toBe(false)
    expect(isFirst('key 0', 100, 100)).toBe(true)
    isFirst('one more', 100, 100)
    expect(isFirst('key 0', 100, 101)).toBe(false)
    expect(isFirst('key 1', 100, 99)).toBe(true)
  })
})
