import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  hygieneEveryMs,
  hygieneLongestMs,
  judgeLease,
  type LeaseSighting,
  leaseAfter,
  leaseStands,
  nextCycleIn,
  sweepBatch,
  sweepContentionMs,
  sweepLeaseName,
  sweepLeaseTtlMs,
  sweepRenewalMs,
  sweepStartMs,
} from '../../src/engine/sweep-schedule.js'

const minutes = 60_000
const hours = 60 * minutes
const t0 = 1_900_000_000_000

describe('the numbers of the sweep', () => {
  it('are those of the contract', () => {
    expect(sweepBatch).toBe(5000)
    expect(sweepLeaseName).toBe('auth:refresh-sweep')
    expect(sweepLeaseTtlMs).toBe(60_000)
    expect(sweepRenewalMs).toBe(20_000)
    expect(sweepContentionMs).toBe(5 * minutes)
    expect(hygieneEveryMs).toBe(hours)
    expect(hygieneLongestMs).toBe(15 * minutes)
    expect(sweepStartMs).toBe(10_000)
  })

  it.each([
    ['both tiers report more', [1, 1], 5 * minutes],
    ['the operator tier alone reports more', [1, 0], 5 * minutes],
    ['the client tier alone reports more', [0, 7000], 5 * minutes],
    ['a tier could not be swept', [0, null], 5 * minutes],
    ['both tiers are dry', [0, 0], 6 * hours],
  ])('the next cycle, when %s', (_, left, expected) => {
    expect(nextCycleIn(left)).toBe(expected)
  })
})

describe('a lease its holder relies on', () => {
  it.each([
    [0, true],
    [59_999, true],
    [60_000, false],
    [24 * hours, false],
    [-1, false],
  ])('%d ms after the renewal began: %s', (age, stands) => {
    expect(leaseStands(t0, t0 + age)).toBe(stands)
  })
})

describe('the takeover rule', () => {
  const theirs = { owner: 'other', renewal: 7 }
  const seenAt = (since: number, record = theirs): LeaseSighting => ({ ...record, since })

  it.each([
    ['nobody ever held', null],
    ['was released', { owner: null, renewal: 7 }],
    ['names the contender itself', { owner: 'me', renewal: 7 }],
  ])('takes at once a lease that %s', (_, record) => {
    expect(judgeLease(record, 'me', null, t0)).toEqual({ mayTake: true })
  })

  it("watches somebody else's lease for one whole lease time from the first look", () => {
    expect(judgeLease(theirs, 'me', null, t0)).toEqual({
      mayTake: false,
      sighting: seenAt(t0),
      waitMs: 60_000,
    })
  })

  it.each([
    ['one millisecond early', 59_999, false],
    ['after exactly the lease time', 60_000, true],
    ['later', 5 * minutes, true],
  ])('the same renewal, seen again %s', (_, later, mayTake) => {
    expect(judgeLease(theirs, 'me', seenAt(t0), t0 + later).mayTake).toBe(mayTake)
  })

  it('the wait that is left counts from the first sighting', () => {
    expect(judgeLease(theirs, 'me', seenAt(t0), t0 + 45_000)).toMatchObject({ waitMs: 15_000 })
  })

  it.each([
    ['a renewal', { owner: 'other', renewal: 8 }],
    ['another holder', { owner: 'third', renewal: 8 }],
    ['another holder who began to count anew', { owner: 'third', renewal: 7 }],
  ])('starts anew at %s', (_, record) => {
    const now = t0 + 5 * minutes
    expect(judgeLease(record, 'me', seenAt(t0), now)).toEqual({
      mayTake: false,
      sighting: { ...record, since: now },
      waitMs: 60_000,
    })
  })

  it('starts anew when its own clock went backwards', () => {
    expect(judgeLease(theirs, 'me', seenAt(t0), t0 - hours)).toMatchObject({
      mayTake: false,
      sighting: { since: t0 - hours },
    })
  })

  it.each([
    [null, 'me', { owner: 'me', renewal: 1 }],
    [theirs, 'me', { owner: 'me', renewal: 8 }],
    [theirs, null, { owner: null, renewal: 8 }],
  ])('every change counts the renewal up by one: %j to %j', (seen, owner, next) => {
    expect(leaseAfter(seen, owner)).toEqual(next)
  })

  /*
   * One holder and one contender, whose clocks run alike but show any times. Reads and renewals
   * take as long as they like. However they interleave, at the instant the contender may take the
   * lease the holder relies on it no more.
   */
  it('never lets two replicas rely on the lease at once', () => {
    const gap = fc.integer({ min: 0, max: 25_000 })
    fc.assert(
      fc.property(
        fc.array(fc.record({ pause: gap, latency: gap }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.record({ pause: gap, latency: gap }), { minLength: 2, maxLength: 20 }),
        fc.integer({ min: -hours, max: hours }),
        (renewals, looks, skew) => {
          // True time of each renewal's start and of the moment it takes effect.
          let time = 0
          const writes = renewals.map(({ pause, latency }, index) => {
            const startedAt = time + pause
            time = startedAt + latency
            return { renewal: index + 1, startedAt, storedAt: time }
          })
          let at = 0
          let sighting: LeaseSighting | null = null
          for (const { pause, latency } of looks) {
            at += pause // the read takes effect here, and is answered `latency` later
            const stored = writes.filter(({ storedAt }) => storedAt <= at).at(-1)
            at += latency
            if (stored === undefined) continue
            const record = { owner: 'holder', renewal: stored.renewal }
            const verdict = judgeLease(record, 'me', sighting, at + skew)
            if (!verdict.mayTake) {
              sighting = verdict.sighting
              continue
            }
            // The takeover is refused unless the record is still the one that was read.
            const unchanged = !writes.some(({ storedAt, renewal }) => {
              return renewal > stored.renewal && storedAt <= at
            })
            if (unchanged) expect(leaseStands(stored.startedAt, at)).toBe(false)
            return
          }
        },
      ),
      { numRuns: 2000 },
    )
  })
})
