import assert from 'node:assert/strict'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type StoreSetup, sample } from '../shared/sample.js'

export const uniqueness: Scripts<StoreSetup> = {
  'insert on a taken unique value answers false and stores nothing': async ({ samples }) => {
    await fill(samples, [sample('a')])
    const rival = sample('b', { email: sample('a').email })
    assert.equal(await samples.insert(rival), false, 'a taken unique value must answer false')
    assert.equal(await samples.get('b'), null, 'a refused document must not be stored')
    assert.deepEqual(await samples.get('a'), sample('a'), 'the holder must not change')
    assert.equal(await samples.insert(sample('c', { handle: 'b' })), true, 'nothing may be left')
  },
  'a unique index on two fields refuses only both together': async ({ samples }) => {
    await fill(samples, [sample('a', { realm: 'r', handle: 'h' })])
    assert.equal(await samples.insert(sample('b', { realm: 'r', handle: 'i' })), true)
    assert.equal(await samples.insert(sample('c', { realm: 's', handle: 'h' })), true)
    assert.equal(await samples.insert(sample('d', { realm: 'r', handle: 'h' })), false)
  },
  'unique tuples are compared field by field, not joined': async ({ samples }) => {
    await fill(samples, [sample('a', { realm: 'x', handle: 'y,z' })])
    assert.equal(await samples.insert(sample('b', { realm: 'x,y', handle: 'z' })), true)
    assert.equal(await samples.insert(sample('c', { realm: 'x","y', handle: 'z' })), true)
    assert.equal(await samples.insert(sample('d', { realm: 'x\u0001y', handle: 'z' })), true)
    assert.equal(await samples.insert(sample('e', { realm: '', handle: 'xy,z' })), true)
  },
  'unique values differ by case, accent and trailing space': async ({ samples }) => {
    const letters = ['a', 'A', 'á', 'a\u0301', 'ａ', 'a\u200d', 'ß', 'ss']
    const emails = [...letters.map((letter) => `${letter}@x.test`), 'a@x.test ']
    for (const [at, email] of emails.entries()) {
      assert.equal(await samples.insert(sample(`id${at}`, { email })), true, `"${email}" is free`)
    }
  },
  'a refused unique value answers null and changes nothing': async ({ samples }) => {
    await fill(samples, [sample('a'), sample('b')])
    const set = { email: sample('a').email, count: 5 }
    assert.equal(await samples.update('b', { count: 0 }, set), null)
    assert.deepEqual(await samples.get('b'), sample('b'), 'a refused update must change nothing')
    const half = { realm: 'main', handle: 'a' }
    assert.equal(await samples.update('b', { count: 0 }, half), null, 'two-field index')
    assert.deepEqual(await samples.get('a'), sample('a'), 'the holder must not change')
  },
  'update that keeps its own unique value succeeds': async ({ samples }) => {
    await fill(samples, [sample('a')])
    const set = { email: sample('a').email, handle: 'a', count: 1 }
    assert.deepEqual(await samples.update('a', { count: 0 }, set), sample('a', { count: 1 }))
  },
  'a guard that misses answers null, whatever it was to set': async ({ samples }) => {
    await fill(samples, [sample('a'), sample('b')])
    assert.equal(await samples.update('b', { count: 7 }, { email: sample('a').email }), null)
    assert.equal(await samples.update('nobody', { count: 0 }, { email: sample('a').email }), null)
  },
  'a unique value freed by update is free, the new one is held': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await samples.update('a', { count: 0 }, { email: 'new@example.test' })
    assert.equal(await samples.insert(sample('b', { email: 'new@example.test' })), false)
    assert.equal(await samples.insert(sample('c', { email: sample('a').email })), true)
  },
  'a unique value freed by take is free': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await samples.take('a')
    assert.equal(await samples.insert(sample('b', { email: sample('a').email })), true)
  },
  'a unique value freed by sweep is free': async ({ samples }) => {
    await fill(samples, [sample('a', { expiresAt: 1000 })])
    await samples.sweep(1000, 10)
    assert.equal(await samples.insert(sample('b', { email: sample('a').email })), true)
  },
}
