import { expect, it } from 'vitest'
import { proofAge } from '../../src/engine/duration.js'

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
