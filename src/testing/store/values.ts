import assert from 'node:assert/strict'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type Sample, type StoreSetup, sample } from '../shared/sample.js'

const texts = [
  '',
  ' ',
  'null',
  '007',
  '1e3',
  '😀 👩‍👩‍👧 🇨🇭',
  'e\u0301 é',
  '\u0001\t\r\n\u007f\u2028\ufeff',
  '\\ \' " ` $1 $$ % _ {a,b} [1] <b>',
]

/** Texts as long as they may be: with one byte for a code unit in UTF-8, with three, and with four for two. */
const longest = (length: number): readonly string[] => [
  'x'.repeat(length),
  '漢'.repeat(length),
  'x'.repeat(length % 2) + '😀'.repeat(Math.floor(length / 2)),
]

const times = [
  0,
  1,
  999,
  Date.UTC(1970, 0, 1, 0, 0, 0, 1),
  Date.UTC(1999, 11, 31, 23, 59, 59, 999),
  Date.UTC(2024, 1, 29, 12, 34, 56, 789),
  Date.UTC(2026, 2, 29, 1, 30),
  // Both sides of the hour that clocks repeat in autumn, in Berlin and in New York.
  Date.UTC(2030, 9, 27, 0, 30),
  Date.UTC(2030, 9, 27, 1, 30),
  Date.UTC(2030, 10, 3, 5, 30),
  Date.UTC(2030, 10, 3, 6, 30),
  Date.UTC(2038, 0, 19, 3, 14, 8),
  Date.UTC(2100, 11, 31, 23, 59, 59, 999),
]

const jsons: readonly unknown[] = [
  null,
  false,
  true,
  0,
  -1.5,
  0.1,
  1e300,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  '',
  'null',
  '"quoted" \\ 😀',
  [],
  {},
  [[], {}, [null]],
  { empty: [], none: {}, nothing: null, no: false, zero: 0 },
  { 'a.b': 1, $set: 2, '$a.$b': { $gt: 3 }, '': 4, ' ': 5, constructor: 6, '10': 7, '9': 8 },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  { deep: { deeper: { deepest: [1, [2, [3, { four: 4 }]]] } } },
]

/** Writes the fields by insert and by update, reads them every way, and compares. */
async function roundTrip({ open }: StoreSetup, fields: Partial<Sample>, named: string) {
  const samples = await open('due')
  const team = 'round trip'
  const inserted = sample('a', { team, expiresAt: 1, ...fields })
  await fill(samples, [inserted, sample('b', { team, expiresAt: 2 })])
  const updated = sample('b', { team, expiresAt: 2, ...fields })
  const answer = await samples.update('b', { team }, fields)
  assert.deepEqual(answer, updated, `${named}: answered by update`)
  assert.deepEqual(await samples.get('a'), inserted, `${named}: inserted, got`)
  assert.deepEqual(await samples.get('b'), updated, `${named}: updated, got`)
  const all = [inserted, updated]
  const found = await samples.find({ team: inserted.team }, { limit: 9 })
  assert.deepEqual(found, all, `${named}: found`)
  assert.deepEqual(await samples.due(3, 9), all, `${named}: due`)
  assert.deepEqual(await samples.take('a'), inserted, `${named}: taken`)
}

export const values: Scripts<StoreSetup> = {
  'numbers keep every digit up to ±(2^53 − 1)': async (setup) => {
    const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number
    await roundTrip(setup, { count: most, score: least }, 'largest and smallest')
    await roundTrip(setup, { count: least, score: most - 1 }, 'smallest and next to largest')
    await roundTrip(setup, { count: -1, score: 0 }, 'zero, not null')
    const { samples } = setup
    await fill(samples, [sample('a', { count: most })])
    assert.equal(await samples.update('a', { count: most - 1 }, { score: 1 }), null)
    assert.notEqual(await samples.update('a', { count: most }, { score: 1 }), null)
    assert.equal((await samples.find({ enabled: true, count: most }, { limit: 1 })).length, 1)
  },
  'text comes back as it was given, to the last code unit': async ({ samples }) => {
    for (const [at, team] of texts.entries()) {
      const doc = sample(`id${at}`, { team, note: team, data: { team } })
      await fill(samples, [doc])
      assert.deepEqual(await samples.get(doc.id), doc, `text ${at}`)
    }
  },
  'ids and unique values may hold any text': async ({ samples }) => {
    for (const id of texts) await fill(samples, [sample(id)])
    for (const id of texts) {
      assert.deepEqual(await samples.get(id), sample(id))
      assert.equal(await samples.insert(sample(id)), false)
      assert.deepEqual(await samples.find({ email: sample(id).email }, { limit: 1 }), [sample(id)])
      assert.deepEqual(await samples.take(id), sample(id))
    }
  },
  'ids and indexed text of 255 code units come back whole, and differ in the last one': async ({
    samples,
  }) => {
    for (const [at, text] of longest(254).entries()) {
      const [one, other] = ['a', 'b'].map((last, which) => {
        const own = text + last
        const fields = { email: own, realm: own, handle: own, team: own }
        return sample(own, { ...fields, count: which })
      }) as [Sample, Sample]
      await fill(samples, [one, other])
      for (const doc of [one, other]) {
        const named = `text ${at}, ending in ${doc.id.slice(-1)}`
        assert.deepEqual(await samples.get(doc.id), doc, `${named}: got`)
        assert.equal(await samples.insert(doc), false, `${named}: taken`)
        assert.deepEqual(await samples.find({ team: doc.team }, { limit: 9 }), [doc], named)
        assert.deepEqual(await samples.find({ email: doc.email }, { limit: 9 }), [doc], named)
      }
    }
  },
  'other text of 65,535 code units comes back whole': async (setup) => {
    for (const [at, note] of longest(65_535).entries()) {
      await roundTrip(setup, { note }, `text ${at}`)
    }
  },
  'composed and decomposed text stay apart': async ({ samples }) => {
    await fill(samples, [sample('é', { team: 'é' }), sample('e\u0301', { team: 'e\u0301' })])
    assert.equal((await samples.get('é'))?.team, 'é')
    assert.equal((await samples.get('e\u0301'))?.team, 'e\u0301')
    assert.equal((await samples.find({ team: 'é' }, { limit: 9 })).length, 1)
  },
  'times keep every millisecond from 1970 to 2100': async ({ samples }) => {
    for (const [at, time] of times.entries()) {
      const doc = sample(`id${at}`, { bornAt: time, seenAt: time, expiresAt: time })
      await fill(samples, [doc])
      assert.deepEqual(await samples.get(doc.id), doc, `time ${time}`)
      assert.notEqual(await samples.update(doc.id, { bornAt: time }, { count: 1 }), null)
    }
  },
  'booleans, null and empty text come back as themselves': async (setup) => {
    await roundTrip(setup, { enabled: false, team: '', score: null, seenAt: null }, 'falsy')
    await roundTrip(setup, { enabled: true, team: null, score: 0, seenAt: 0 }, 'zeros')
  },
  'json comes back deep-equal': async ({ samples }) => {
    for (const [at, data] of jsons.entries()) {
      const inserted = sample(`id${at}`, { data })
      await fill(samples, [inserted, sample(`up${at}`)])
      const named = `json ${JSON.stringify(data)}`
      assert.deepEqual(await samples.get(inserted.id), inserted, named)
      const updated = await samples.update(`up${at}`, { count: 0 }, { data })
      assert.deepEqual(updated, sample(`up${at}`, { data }), `${named}, set by update`)
      assert.deepEqual(await samples.take(inserted.id), inserted, `${named}, taken`)
    }
  },
  'json is replaced as a whole, never merged': async ({ samples }) => {
    await fill(samples, [sample('a', { data: { old: 1, kept: { deep: 1 } } })])
    await samples.update('a', { count: 0 }, { data: { kept: { other: 2 } } })
    assert.deepEqual((await samples.get('a'))?.data, { kept: { other: 2 } })
  },
  'every kind of read gives the same document': async (setup) => {
    await roundTrip(setup, { data: { list: [{ a: null }] }, bornAt: 86_400_123 }, 'a document')
  },
}
