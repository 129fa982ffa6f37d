import { expect, it } from 'vitest'
import { fewPerWindow } from '../../src/engine/limits.js'

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
