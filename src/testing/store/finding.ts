import assert from 'node:assert/strict'
import type { Collection, Page } from '../../ports/store.js'
import type { Scripts } from '../shared/conformance-case.js'
import { fill, type Sample, type StoreSetup, sample } from '../shared/sample.js'

const team = 'x'

/** Sorted by UTF-16 code unit. No dictionary sorts like this, and few databases by themselves. */
const codeUnitOrder = ['', '-z', '0', 'A', 'B', 'Z', '_', 'a', 'aa', 'b', 'z', 'Ä', 'é', 'ж', '中']

function idsOf(docs: readonly Sample[]): readonly string[] {
  return docs.map(({ id }) => id)
}

async function ids(samples: Collection<Sample>, page: Page): Promise<readonly string[]> {
  return idsOf(await samples.find({ team }, page))
}

async function fillTeam(samples: Collection<Sample>, names: readonly string[]): Promise<void> {
  await fill(
    samples,
    names.map((id) => sample(id, { team })),
  )
}

/** Every page after another, until one is empty. */
async function walk(samples: Collection<Sample>, page: Page): Promise<readonly string[]> {
  const seen: string[] = []
  for (let next = page; ; ) {
    const found = await ids(samples, next)
    seen.push(...found)
    const after = found.at(-1)
    if (after === undefined) return seen
    next = { ...page, after }
  }
}

export const finding: Scripts<StoreSetup> = {
  'find returns the documents equal in every field of an index': async ({ samples }) => {
    const docs = [
      sample('a', { team, count: 1 }),
      sample('b', { team, count: 2, data: { of: ['b'] } }),
      sample('c', { team: 'y', count: 1, enabled: false, expiresAt: 77 }),
    ]
    await fill(samples, docs)
    const [a, b, c] = docs
    const page = { limit: 10 }
    assert.deepEqual(await samples.find({ team }, page), [a, b], 'index on one field')
    assert.deepEqual(await samples.find({ team: 'y' }, page), [c], 'index on one field')
    assert.deepEqual(await samples.find({ enabled: true, count: 1 }, page), [a], 'two fields')
    assert.deepEqual(await samples.find({ count: 1, enabled: false }, page), [c], 'in any order')
    assert.deepEqual(await samples.find({ email: 'b@example.test' }, page), [b], 'unique index')
    assert.deepEqual(await samples.find({ realm: 'main', handle: 'c' }, page), [c], 'two unique')
    assert.deepEqual(await samples.find({ team: 'z' }, page), [], 'nothing is an empty list')
  },
  'find by null returns the documents that hold null': async ({ samples }) => {
    await fill(samples, [sample('a'), sample('b', { team: '' }), sample('c', { team: 'null' })])
    assert.deepEqual(idsOf(await samples.find({ team: null }, { limit: 10 })), ['a'])
    assert.deepEqual(idsOf(await samples.find({ team: '' }, { limit: 10 })), ['b'])
  },
  'find follows updates and takes': async ({ samples }) => {
    await fillTeam(samples, ['a', 'b', 'c'])
    await samples.update('a', { team }, { team: 'y' })
    await samples.update('b', { team }, { team: null })
    await samples.take('c')
    assert.deepEqual(await ids(samples, { limit: 10 }), [], 'the old value must find nothing')
    assert.deepEqual(idsOf(await samples.find({ team: 'y' }, { limit: 10 })), ['a'])
    assert.deepEqual(idsOf(await samples.find({ team: null }, { limit: 10 })), ['b'])
    await samples.update('b', { team: null }, { team })
    assert.deepEqual(await ids(samples, { limit: 10 }), ['b'], 'a value may come back')
  },
  'find sorts ids by code unit, whatever the locale': async ({ samples }) => {
    await fillTeam(samples, ['b', 'Z', 'é', '_', '中', '-z', 'a', '', 'ж', 'B', 'aa', 'Ä'])
    await fillTeam(samples, ['z', 'A', '0'])
    const order = 'ids must come in the order of their code units'
    assert.deepEqual(await ids(samples, { limit: 100 }), codeUnitOrder, order)
    const backwards = [...codeUnitOrder].reverse()
    assert.deepEqual(await ids(samples, { limit: 100, newestFirst: true }), backwards)
  },
  'pages cover every document once, in both directions': async ({ samples }) => {
    await fillTeam(samples, codeUnitOrder)
    await fill(samples, [sample('other', { team: 'y' })])
    for (const limit of [1, 2, 4, codeUnitOrder.length]) {
      assert.deepEqual(await walk(samples, { limit }), codeUnitOrder, `pages of ${limit}`)
      const newest = await walk(samples, { limit, newestFirst: true })
      assert.deepEqual(newest, [...codeUnitOrder].reverse(), `newest first, pages of ${limit}`)
    }
  },
  'a page starts strictly after an id, which need not exist': async ({ samples }) => {
    await fillTeam(samples, ['b', 'd', 'f'])
    assert.deepEqual(await ids(samples, { limit: 2 }), ['b', 'd'], 'limit')
    assert.deepEqual(await ids(samples, { limit: 9, after: 'b' }), ['d', 'f'], 'existing id')
    assert.deepEqual(await ids(samples, { limit: 9, after: 'c' }), ['d', 'f'], 'unknown id')
    assert.deepEqual(await ids(samples, { limit: 9, after: '' }), ['b', 'd', 'f'], 'before all')
    assert.deepEqual(await ids(samples, { limit: 9, after: 'f' }), [], 'the last one')
    assert.deepEqual(await ids(samples, { limit: 9, after: 'z' }), [], 'after all')
  },
  'newestFirst starts strictly before an id, which need not exist': async ({ samples }) => {
    await fillTeam(samples, ['b', 'd', 'f'])
    const newest = (after: string) => ids(samples, { limit: 9, after, newestFirst: true })
    assert.deepEqual(await ids(samples, { limit: 2, newestFirst: true }), ['f', 'd'], 'limit')
    assert.deepEqual(await newest('f'), ['d', 'b'], 'existing id')
    assert.deepEqual(await newest('e'), ['d', 'b'], 'unknown id')
    assert.deepEqual(await newest('z'), ['f', 'd', 'b'], 'after all')
    assert.deepEqual(await newest('b'), [], 'the first one')
    assert.deepEqual(await newest(''), [], 'before all')
  },
  'find returns up to 1,000 documents': async ({ samples }) => {
    const names = Array.from({ length: 1001 }, (_, at) => `id${String(at).padStart(4, '0')}`)
    await Promise.all(names.map((id) => samples.insert(sample(id, { team }))))
    const first = await ids(samples, { limit: 1000 })
    assert.deepEqual(first, names.slice(0, 1000), 'a page must not be cut short')
    const after = names[999] ?? ''
    assert.deepEqual(await ids(samples, { limit: 1000, after }), names.slice(1000), 'what is left')
  },
}
