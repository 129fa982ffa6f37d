import { describe, expect, it } from 'vitest'
import { accessExpiry, capReached } from '../../src/engine/refresh-rules.js'

it('a session stands at exactly its cap, and a millisecond later no more', () => {
  expect(capReached(1000, 500, 1500)).toBe(false)
  expect(capReached(1000, 500, 1501)).toBe(true)
  expect(capReached(1000, null, 1e12)).toBe(false)
})

describe('the end of an access token', () => {
  const bounds = { ttlMs: 300_000, idleEndsAt: 9_000_000, absoluteTtlMs: null }

  it.each([
    ['its own lifetime', {}, 1300],
    ['its own lifetime, to the second', { ttlMs: 300_999 }, 1300],
    ['the idle window of its session', { idleEndsAt: 1_200_999 }, 1200],
    ['the cap of its session', { absoluteTtlMs: 200_999 }, 1100],
    ['a second, in the last second of its session', { idleEndsAt: 1_000_000 }, 1001],
    ['a second, where the session is over', { idleEndsAt: 1 }, 1001],
  ])('is %s', (_name, given, exp) => {
    expect(accessExpiry(1000, 900, { ...bounds, ...given })).toBe(exp)
  })
})
