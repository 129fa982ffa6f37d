import assert from 'node:assert/strict'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type StoreSetup, sample, sampleSpec } from '../shared/sample.js'

export const basics: Scripts<StoreSetup> = {
  'insert stores a document, which get then returns': async ({ samples }) => {
    assert.equal(await samples.insert(sample('a')), true, 'insert of a new id must answer true')
    assert.deepEqual(await samples.get('a'), sample('a'), 'get must return what was inserted')
  },
  'get of an unknown id answers null': async ({ samples }) => {
    assert.equal(await samples.get('nobody'), null)
  },
  'insert on a taken id answers false and changes nothing': async ({ samples }) => {
    await fill(samples, [sample('a')])
    const other = sample('a', { email: 'b@example.test', handle: 'b', count: 9 })
    assert.equal(await samples.insert(other), false, 'a taken id must answer false')
    assert.deepEqual(await samples.get('a'), sample('a'), 'the first document must stay as it was')
    assert.equal(
      await samples.insert(sample('c', { email: 'b@example.test', handle: 'b' })),
      true,
      'a refused insert must not hold on to its unique values',
    )
  },
  'update answers the new document and leaves the fields it does not set': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x', data: { kept: [1] } }), sample('b')])
    const changed = sample('a', { team: 'x', data: { kept: [1] }, count: 1, seenAt: 5 })
    const answer = await samples.update('a', { count: 0 }, { count: 1, seenAt: 5 })
    assert.deepEqual(answer, changed, 'update must answer the whole new document')
    assert.deepEqual(await samples.get('a'), changed, 'what update answered must be stored')
    assert.deepEqual(await samples.get('b'), sample('b'), 'other documents must not change')
  },
  'an update to the values that are there already answers the document': async ({ samples }) => {
    const doc = sample('a', { team: 'x', seenAt: 5, data: { kept: [1] } })
    await fill(samples, [doc])
    const { id: _, ...same } = doc
    assert.deepEqual(await samples.update('a', { count: 0 }, { count: 0 }), doc, 'one field')
    assert.deepEqual(await samples.update('a', { team: 'x' }, same), doc, 'every field')
    assert.equal(await samples.update('a', { count: 1 }, { count: 0 }), null, 'a guard that fails')
  },
  'update sets null and takes it back': async ({ samples }) => {
    await fill(samples, [sample('a', { team: 'x', expiresAt: 1000 })])
    await samples.update('a', { team: 'x' }, { team: null, expiresAt: null, count: 1 })
    assert.deepEqual(await samples.get('a'), sample('a', { count: 1 }))
    await samples.update('a', { team: null }, { team: 'x', expiresAt: 1000 })
    assert.deepEqual(await samples.get('a'), sample('a', { team: 'x', expiresAt: 1000, count: 1 }))
  },
  'update of an unknown id answers null and stores nothing': async ({ samples }) => {
    assert.equal(await samples.update('a', { count: 0 }, { count: 1 }), null)
    assert.equal(await samples.get('a'), null, 'update must never insert')
  },
  'take removes the document and returns it once': async ({ samples }) => {
    await fill(samples, [sample('a'), sample('b')])
    assert.deepEqual(await samples.take('a'), sample('a'), 'take must return the document')
    assert.equal(await samples.get('a'), null, 'take must remove the document')
    assert.equal(await samples.take('a'), null, 'a second take must answer null')
    assert.deepEqual(await samples.get('b'), sample('b'), 'other documents must stay')
  },
  'a taken id can be inserted again': async ({ samples }) => {
    await fill(samples, [sample('a')])
    await samples.take('a')
    assert.equal(await samples.insert(sample('a', { count: 2 })), true)
    assert.deepEqual(await samples.get('a'), sample('a', { count: 2 }))
  },
  'an expired document is not hidden': async ({ samples }) => {
    await fill(samples, [sample('a', { expiresAt: 1000, team: 'x' })])
    const old = sample('a', { expiresAt: 1000, team: 'x' })
    assert.deepEqual(await samples.get('a'), old, 'only the caller judges whether it expired')
    assert.deepEqual(await samples.find({ team: 'x' }, { limit: 10 }), [old])
    assert.notEqual(await samples.update('a', { count: 0 }, { count: 1 }), null)
    assert.notEqual(await samples.take('a'), null)
  },
  'two bindings of one collection share its documents': async ({ backend }) => {
    const spec = sampleSpec('fixed')
    await backend.store.prepare([spec])
    await fill(backend.store.collection(spec), [sample('a')])
    const second = backend.store.collection(spec)
    assert.deepEqual(await second.get('a'), sample('a'))
    assert.equal(await second.insert(sample('b', { email: sample('a').email })), false)
  },
  'two collections share neither ids nor unique values': async ({ samples, open }) => {
    const others = await open('sliding')
    await fill(samples, [sample('a')])
    assert.equal(await others.get('a'), null, 'a document of another collection must not be seen')
    assert.equal(await others.insert(sample('a', { count: 3 })), true)
    assert.deepEqual(await samples.get('a'), sample('a'))
  },
  'documents given in and out are copies': async ({ samples }) => {
    const inserted = sample('a', { team: 'x', data: { list: [1, { deep: 'first' }] } })
    await fill(samples, [inserted])
    spoil(inserted)
    const first = sample('a', { team: 'x', data: { list: [1, { deep: 'first' }] } })
    assert.deepEqual(await samples.get('a'), first, 'changing an inserted document must do nothing')
    const set = { data: { list: ['set'] } }
    const updated = await samples.update('a', { count: 0 }, set)
    spoil(set)
    spoil(updated)
    spoil(await samples.get('a'))
    spoil(await samples.find({ team: 'x' }, { limit: 1 }))
    assert.deepEqual(
      await samples.get('a'),
      sample('a', { team: 'x', data: { list: ['set'] } }),
      'changing a set value or a returned document must do nothing to the stored one',
    )
  },
  'frozen documents are accepted and left alone': async ({ samples }) => {
    const data = Object.freeze({ list: Object.freeze([1]) })
    assert.equal(await samples.insert(Object.freeze(sample('a', { data }))), true)
    const guard = Object.freeze({ count: 0 })
    const set = Object.freeze({ count: 1, data })
    assert.deepEqual(await samples.update('a', guard, set), sample('a', { count: 1, data }))
  },
}

/** Overwrites everything inside `value`, at every depth. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    spoil(inner)
    Reflect.set(value, key, 'spoilt')
  }
}
