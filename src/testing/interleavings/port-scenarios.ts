import assert from 'node:assert/strict'
import type { CounterResult, LeaseRecord } from '../../ports/backend.js'
import { addingCounter } from '../shared/adding-counter.js'
import { racer, racers, type Scenario } from './scenario.js'

const noon = Date.UTC(2030, 5, 15, 12)
const minute = 60_000
const atomic = 'Counter.hit: counting and checking are one step; hits never exceed the limit'
const exact = 'Lease.replace: of racers with the same sight, one gets true'
const merged = 'Denylist.put: the first reason stays and the later expiry wins'

function allowedOf(answers: readonly unknown[]): readonly number[] {
  // What `hit` gives, by the port.
  const hits = answers as readonly CounterResult[]
  return hits.filter(({ allowed }) => allowed).map(({ count }) => count)
}

function hits(count: number, words: string, now: number): Scenario {
  const when = now === noon ? 'at the limit' : 'after a window ended'
  return {
    name: `interleaved: of ${words} hits ${when}, one is allowed`,
    promise: atomic,
    async arrange({ counter }, own) {
      await counter.hit(own, minute, 2, noon)
      const already = now === noon ? 1 : 0
      return {
        racers: racers(count, () =>
          racer(`hit(key, minute, ${already + 1}, now)`, () =>
            counter.hit(own, minute, already + 1, now),
          ),
        ),
        async check(answers) {
          assert.deepEqual(allowedOf(answers), [already + 1], 'exactly one hit may be allowed')
          const { allowed } = await counter.hit(own, minute, already + 1, now)
          assert.equal(allowed, false, 'the allowed hit must have been counted')
        },
      }
    },
  }
}

function replaces(name: string, seen: LeaseRecord | null): Scenario {
  return {
    name: `interleaved: of two replaces of ${name}, one gets the lease`,
    promise: exact,
    async arrange({ lease }, own) {
      if (seen) await lease.replace(own, null, seen)
      const next = (at: number) => ({ owner: `racer${at}`, renewal: (seen?.renewal ?? 0) + 1 })
      return {
        racers: racers(2, (at) =>
          racer(`replace(name, ${name}, own record)`, () => lease.replace(own, seen, next(at))),
        ),
        async check(answers) {
          assert.equal(answers.filter(Boolean).length, 1, 'exactly one racer may get the lease')
          const record = await lease.read(own)
          assert.deepEqual(record, next(answers.indexOf(true)), 'the winner must be the holder')
        },
      }
    },
  }
}

export const portScenarios: readonly Scenario[] = [
  hits(2, 'two', noon),
  hits(3, 'three', noon),
  hits(2, 'two', noon + minute),
  {
    name: 'interleaved: of two additions that do not both fit, one is allowed',
    promise: 'Counter.add: as many calls of `hit`, in one atomic step',
    async arrange({ counter }, own) {
      const { add } = addingCounter(counter)
      await add(own, minute, 6, noon, 2)
      return {
        racers: racers(2, () =>
          racer('add(key, minute, 6, now, 3)', () => add(own, minute, 6, noon, 3)),
        ),
        async check(answers) {
          assert.deepEqual(allowedOf(answers), [5], 'exactly one addition may be allowed')
          const { allowed, count } = await counter.hit(own, minute, 6, noon)
          assert.deepEqual({ allowed, count }, { allowed: false, count: 6 }, 'the window is full')
        },
      }
    },
  },
  {
    name: 'interleaved: a hit and a forgive lose nothing',
    promise: atomic,
    async arrange({ counter }, own) {
      for (let hit = 0; hit < 3; hit++) await counter.hit(own, minute, 9, noon)
      return {
        racers: [
          racer('hit(key, minute, 9, now)', () => counter.hit(own, minute, 9, noon)),
          racer('forgive(key, 1)', () => counter.forgive(own, 1)),
        ],
        async check() {
          const { count } = await counter.hit(own, minute, 9, noon)
          assert.equal(count, 4, 'three hits, one more and one forgiven make three')
        },
      }
    },
  },
  replaces('no record', null),
  replaces('one record', { owner: null, renewal: 4 }),
  {
    name: 'interleaved: of two puts of one id, the later expiry wins and one reason stays',
    promise: merged,
    async arrange({ denylist }, own) {
      const put = (reason: 'revoked' | 'max_age', expiresAt: number) =>
        racer(`put([{ id, '${reason}', ${expiresAt === noon ? 'noon' : 'later'} }])`, () =>
          denylist.put([{ id: own, reason, expiresAt }]),
        )
      return {
        racers: [put('max_age', noon + minute), put('revoked', noon)],
        async check() {
          const entries = await denylist.find([own])
          assert.deepEqual(
            entries.map(({ id, expiresAt }) => ({ id, expiresAt })),
            [{ id: own, expiresAt: noon + minute }],
            'one entry, with the later expiry',
          )
        },
      }
    },
  },
  {
    name: 'interleaved: two puts leave the reason that was there first',
    promise: merged,
    async arrange({ denylist }, own) {
      await denylist.put([{ id: own, reason: 'max_age', expiresAt: noon }])
      return {
        racers: racers(2, (at) =>
          racer("put([{ id, 'revoked', later }])", () =>
            denylist.put([{ id: own, reason: 'revoked', expiresAt: noon + 2 - at }]),
          ),
        ),
        async check() {
          const wanted = [{ id: own, reason: 'max_age', expiresAt: noon + 2 }]
          assert.deepEqual(await denylist.find([own]), wanted, 'first reason, latest expiry')
        },
      }
    },
  },
]
