import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { formatDuration, parseDuration, proofAge } from '../../src/engine/duration.js'

describe('parseDuration', () => {
  test.each([
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['720h', 2_592_000_000],
    ['30d', 2_592_000_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['250ms', 250],
    ['0s', 0],
    ['900', 900_000],
    ['0', 0],
    ['007s', 7_000],
    ['999999h', 3_599_996_400_000],
    ['9007199254740991ms', Number.MAX_SAFE_INTEGER],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  test.each([
    ...['', ' ', '15 m', ' 15m', '15m ', '15m\n', '-5m', '+5m', '1.5h', '1,5h', '1e3s', '0x10'],
    ...['m', 'ms', '15M', '15min', '1w', '1h30', '30m1h', '1m1m', '5ms1s', '1s5', '٣s', 'NaN'],
    ...['9007199254740992ms', '9007199254741s', '999999999999999999999999h', '9'.repeat(400)],
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull()
  })
})

describe('formatDuration', () => {
  test.each([
    [0, '0s'],
    [1, '1ms'],
    [90_000, '1m30s'],
    [900_000, '15m'],
    [2_592_000_000, '30d'],
    [93_784_005, '1d2h3m4s5ms'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
  })

  test('writes what parseDuration reads back', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms)
      }),
    )
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d', (ms) => {
    expect(() => formatDuration(ms)).toThrow(new RangeError('A duration is whole milliseconds'))
  })
})

const now = 1_800_000_000_000

it.each([
  ['that was shown now', 0, 0],
  ['of a minute ago', 60_000, 60_000],
  ['of a process whose clock is a little ahead', -1, 0],
  ['of a process whose clock is a minute ahead', -60_000, 0],
  ['of a later time', -60_001, null],
])('a proof %s', (_what, msAgo, age) => {
  expect(proofAge(now - msAgo, now)).toBe(age)
})
