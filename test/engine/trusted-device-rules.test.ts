import { expect, it } from 'vitest'
import { isTrusted, trustedUntil } from '../../src/engine/factors.js'

const grant = { userId: 'ada', deviceEpoch: 3, createdAt: 1000, expiresAt: 9000 }
const seen = { user: { id: 'ada', deviceEpoch: 3 }, now: 5000, ttlMs: 8000 }

it.each([
  ['its user, in time', {}, true],
  ['another user', { user: { id: 'eve', deviceEpoch: 3 } }, false],
  ['its user, whose devices were voided', { user: { id: 'ada', deviceEpoch: 4 } }, false],
  ['the first moment', { now: 1000 }, true],
  ['the moment before, by a clock that is wrong', { now: 999 }, false],
  ['the last moment', { now: 8999 }, true],
  ['the end', { now: 9000 }, false],
  ['the last moment of a trust that was shortened', { ttlMs: 4001 }, true],
  ['the end of a trust that was shortened', { ttlMs: 4000 }, false],
])('a device counts for %s: %s', (_name, given, is) => {
  expect(isTrusted(grant, { ...seen, ...given })).toBe(is)
})

it('the settings of now shorten a trust, and never prolong it', () => {
  expect([trustedUntil(grant, 100), trustedUntil(grant, 90_000)]).toEqual([1100, 9000])
})
