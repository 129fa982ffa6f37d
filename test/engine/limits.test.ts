import { describe, expect, it } from 'vitest'
import { countHit, fewPerWindow, lockoutLength, oncePerWindow } from '../../src/engine/limits.js'

describe('a fixed counting window', () => {
  it('starts with its first hit and counts up to the limit', () => {
    const first = countHit(null, 1000, 2, 5)
    expect(first).toEqual({ allowed: true, window: { count: 1, resetsAt: 1005 } })
    const second = countHit(first.window, 1000, 2, 900)
    expect(second).toEqual({ allowed: true, window: { count: 2, resetsAt: 1005 } })
    const third = countHit(second.window, 1000, 2, 1004)
    expect(third).toEqual({ allowed: false, window: { count: 2, resetsAt: 1005 } })
  })

  it('starts anew when it ends, at that millisecond', () => {
    expect(countHit({ count: 2, resetsAt: 1005 }, 1000, 2, 1005)).toEqual({
      allowed: true,
      window: { count: 1, resetsAt: 2005 },
    })
  })

  it('allows nothing with a limit of zero', () => {
    expect(countHit(null, 1000, 0, 5).allowed).toBe(false)
  })
})

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

it('a key is new to its subject once a window, and a few keys are', () => {
  const isNews = fewPerWindow(2, 100)
  expect(['a', 'a', 'b', 'c', 'a'].map((key) => isNews('s', key, 0))).toEqual([
    ...[true, false, true, false, false],
  ])
  expect(isNews('other', 'c', 0)).toBe(true)
  expect([99, 100, 101].map((now) => isNews('s', 'c', now))).toEqual([false, true, false])
})

it('a window begins anew when the clock stepped back', () => {
  const isNews = fewPerWindow(1, 100)
  expect([1000, 900, 950].map((now) => isNews('s', 'a', now))).toEqual([true, true, false])
})

it('the keys of one subject use up no place of another, and of ten thousand the oldest is forgotten', () => {
  const isNews = fewPerWindow(8, 100)
  isNews('first', 'a', 0)
  for (let n = 0; n < 20_000; n += 1) isNews('second', `key ${n}`, 0)
  expect(isNews('first', 'a', 0)).toBe(false)
  for (let n = 0; n < 9_998; n += 1) isNews(`subject ${n}`, 'a', 0)
  expect(isNews('first', 'a', 0)).toBe(false)
  isNews('one more', 'a', 0)
  expect(isNews('first', 'a', 0)).toBe(true)
})

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
