import assert from 'node:assert/strict'
import type { Collection, Guard } from '../../ports/store.js'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type Sample, type StoreSetup, sample } from '../shared/sample.js'

const year = Date.UTC(2030, 0, 1)
const awkward = ['a,b', '{"a"}', 'NULL', '\\', "it's", '$1', '%', ' ', '😀', 'é']

/** Tries the guard with an update, which must hold or miss, and must not write when it misses. */
async function expectGuard(
  samples: Collection<Sample>,
  guard: Guard<Sample>,
  holds: boolean,
): Promise<void> {
  const before = await samples.get('a')
  assert.ok(before)
  const data = { tried: JSON.stringify(guard) }
  const answer = await samples.update('a', guard, { data })
  const wanted = holds ? { ...before, data } : null
  const promise = `the guard ${JSON.stringify(guard)} must ${holds ? 'hold' : 'miss'}`
  assert.deepEqual(answer, wanted, promise)
  assert.deepEqual(await samples.get('a'), wanted ?? before, `${promise}: stored document`)
}

export const guards: Scripts<StoreSetup> = {
  'a guard on equality holds for the same value only, of every kind': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x', count: 3, score: -4, seenAt: year + 1 })])
    const same: Guard<Sample> = { team: 'x', enabled: true, count: 3, score: -4 }
    await expectGuard(samples, { ...same, bornAt: year, seenAt: year + 1, id: 'a' }, true)
    await expectGuard(samples, { team: 'X' }, false)
    await expectGuard(samples, { team: 'x ' }, false)
    await expectGuard(samples, { enabled: false }, false)
    await expectGuard(samples, { count: 4 }, false)
    await expectGuard(samples, { score: 4 }, false)
    await expectGuard(samples, { seenAt: year }, false)
    // Another document, which is not the one that is meant.
    await fill(samples, [sample('b')])
    await expectGuard(samples, { id: 'b' }, false)
    assert.deepEqual(await samples.get('b'), sample('b'))
  },
  'every field of a guard must hold': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x' })])
    await expectGuard(samples, { team: 'x', count: 1 }, false)
    await expectGuard(samples, { team: 'y', count: 0 }, false)
    await expectGuard(samples, { team: 'x', count: 0 }, true)
  },
  'a guard of null equals only null': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x', score: 0, seenAt: 0 })])
    await expectGuard(samples, { team: null }, false)
    await expectGuard(samples, { score: null }, false)
    await expectGuard(samples, { seenAt: null }, false)
    await samples.update('a', { team: 'x' }, { team: null, score: null, seenAt: null })
    await expectGuard(samples, { team: null, score: null, seenAt: null }, true)
  },
  'a guard of a value never equals null': async ({ samples }) => {
    await fill(samples, [sample('a')])
    for (const team of ['', 'null', 'undefined', '\u0001']) {
      await expectGuard(samples, { team }, false)
    }
    await expectGuard(samples, { score: 0 }, false)
    await expectGuard(samples, { seenAt: 0 }, false)
  },
  'the empty text is not null': async ({ samples }) => {
    await fill(samples, [sample('a', { team: '' })])
    await expectGuard(samples, { team: null }, false)
    await expectGuard(samples, { team: '' }, true)
  },
  'a guard with `in` holds for any of its values': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x', count: 3 })])
    await expectGuard(samples, { team: { in: ['w', 'x'] } }, true)
    await expectGuard(samples, { team: { in: ['x'] }, count: { in: [2, 3, 4] } }, true)
    await expectGuard(samples, { enabled: { in: [true] }, bornAt: { in: [0, year] } }, true)
    await expectGuard(samples, { team: { in: ['w', 'y'] } }, false)
    await expectGuard(samples, { enabled: { in: [false] } }, false)
    await expectGuard(samples, { id: { in: ['b', 'c'] } }, false)
  },
  'a guard with an empty `in` holds for nothing': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await expectGuard(samples, { count: { in: [] } }, false)
    await expectGuard(samples, { team: { in: [] } }, false)
  },
  'null among the values of `in` equals only null': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x' })])
    await expectGuard(samples, { team: { in: [null] } }, false)
    await expectGuard(samples, { team: { in: [null, 'y'] } }, false)
    await expectGuard(samples, { team: { in: [null, 'x'] } }, true)
    await samples.update('a', { team: 'x' }, { team: null })
    await expectGuard(samples, { team: { in: [null, 'x'] }, score: { in: [1, null] } }, true)
    await expectGuard(samples, { team: { in: [null] } }, true)
    await expectGuard(samples, { team: { in: ['x', ''] } }, false)
  },
  'awkward text is compared as it is': async ({ samples }) => {
    await fill(samples, [sample('a')])
    for (const team of awkward) {
      await samples.update('a', { count: 0 }, { team })
      await expectGuard(samples, { team }, true)
      await expectGuard(samples, { team: { in: awkward } }, true)
      await expectGuard(samples, { team: { in: awkward.filter((one) => one !== team) } }, false)
    }
  },
  'a guard with `gt` holds strictly above its bound': async ({ samples }) => {
    await fill(samples, [sample('a', { count: 10, score: -10, seenAt: year })])
    await expectGuard(samples, { count: { gt: 9 } }, true)
    await expectGuard(samples, { count: { gt: 10 } }, false)
    await expectGuard(samples, { score: { gt: -11 } }, true)
    await expectGuard(samples, { score: { gt: -9 } }, false)
    await expectGuard(samples, { seenAt: { gt: year - 1 } }, true)
    await expectGuard(samples, { seenAt: { gt: year } }, false)
  },
  'a guard with `lte` holds at and below its bound': async ({ samples }) => {
    await fill(samples, [sample('a', { count: 10, score: -10, seenAt: year })])
    await expectGuard(samples, { count: { lte: 10 } }, true)
    await expectGuard(samples, { count: { lte: 9 } }, false)
    await expectGuard(samples, { score: { lte: -9 } }, true)
    await expectGuard(samples, { score: { lte: -11 } }, false)
    await expectGuard(samples, { seenAt: { lte: year } }, true)
    await expectGuard(samples, { seenAt: { lte: year - 1 } }, false)
  },
  'a bound never holds for null': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await expectGuard(samples, { score: { gt: Number.MIN_SAFE_INTEGER } }, false)
    await expectGuard(samples, { score: { lte: Number.MAX_SAFE_INTEGER } }, false)
    await expectGuard(samples, { seenAt: { gt: 0 } }, false)
    await expectGuard(samples, { seenAt: { lte: year } }, false)
    await expectGuard(samples, { expiresAt: { lte: year } }, false)
  },
  'a guard can test expiresAt': async ({ samples, open }) => {
    await fill(samples, [sample('a', { expiresAt: year })])
    await expectGuard(samples, { expiresAt: year }, true)
    await expectGuard(samples, { expiresAt: null }, false)
    await expectGuard(samples, { expiresAt: { gt: year } }, false)
    const lasting = await open('never')
    await fill(lasting, [sample('a')])
    await expectGuard(lasting, { expiresAt: null }, true)
    await expectGuard(lasting, { expiresAt: year }, false)
    await expectGuard(lasting, { expiresAt: { lte: year } }, false)
  },
  'a guarded take removes only while its guard holds': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x' })])
    assert.equal(await samples.take('a', { team: 'y' }), null, 'a missed guard answers null')
    assert.equal(await samples.take('a', { team: null }), null, 'null equals only null')
    assert.equal(await samples.take('a', { count: { gt: 0 } }), null)
    assert.deepEqual(await samples.get('a'), sample('a', { team: 'x' }), 'and removes nothing')
    const guard: Guard<Sample> = { team: { in: ['x', null] }, count: { lte: 0 } }
    assert.deepEqual(await samples.take('a', guard), sample('a', { team: 'x' }))
    assert.equal(await samples.get('a'), null)
  },
}
