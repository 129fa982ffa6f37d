import assert from 'node:assert/strict'
import type { CollectionSpec, Doc } from '../../ports/store.js'
import { NotOffered, race, type Scripts, uniqueName } from '../shared/conformance-case.js'
import { fill, type StoreSetup, sample, sampleSpec } from '../shared/sample.js'

/** What a collection held in its first version … */
interface Early extends Doc {
  readonly email: string
}

/** … and in its second. */
interface Late extends Early {
  readonly kind: string
  readonly note: string | null
  readonly level: number
  readonly active: boolean
  readonly since: number
  readonly data: unknown
}

const added = { kind: "it's $1 \\ 😀", level: -3, active: true, since: 1_000_000_000_123 }
const data = { list: [], text: '$postern$' }

export function versions(): { early: CollectionSpec<Early>; late: CollectionSpec<Late> } {
  const name = `kit_${uniqueName()}`
  const early: CollectionSpec<Early> = {
    name,
    fields: { email: { kind: 'text' } },
    indexes: [{ on: ['email'], unique: true }],
    expires: 'never',
  }
  const late: CollectionSpec<Late> = {
    name,
    fields: {
      email: { kind: 'text' },
      kind: { kind: 'text', default: added.kind },
      note: { kind: 'text', nullable: true },
      level: { kind: 'integer', default: added.level },
      active: { kind: 'boolean', default: added.active },
      since: { kind: 'time', default: added.since },
      data: { kind: 'json', default: data },
    },
    indexes: [{ on: ['email'], unique: true }, { on: ['kind'] }, { on: ['note', 'level'] }],
    expires: 'never',
  }
  return { early, late }
}

/** A nullable field, added later, that older documents do not read as null. */
interface Noted extends Early {
  readonly note: string | null
}

const notedSpec = ({ name, expires, fields, indexes }: CollectionSpec<Early>) => {
  const note = { kind: 'text', nullable: true, default: 'none' } as const
  const noted: CollectionSpec<Noted> = {
    name,
    expires,
    fields: { ...fields, note },
    indexes: [...indexes, { on: ['note'] }],
  }
  return noted
}

export function earlyDoc(id: string): Early {
  return { id, email: `${id}@example.test`, expiresAt: null }
}

export function lateDoc(id: string): Late {
  return { ...earlyDoc(id), ...added, note: null, data }
}

export const preparing: Scripts<StoreSetup> = {
  'prepare may be repeated and changes no document': async ({ backend }) => {
    const spec = sampleSpec('sliding')
    await backend.store.prepare([spec])
    const samples = backend.store.collection(spec)
    await fill(samples, [sample('a')])
    await backend.store.prepare([spec])
    await backend.store.prepare([spec, spec])
    assert.deepEqual(await samples.get('a'), sample('a'))
    assert.equal(await samples.insert(sample('b', { email: sample('a').email })), false)
  },
  'prepare by eight at once works': async ({ backend }) => {
    const specs = [sampleSpec('sliding'), sampleSpec('due'), sampleSpec('never')]
    await race(8, () => backend.store.prepare(specs))
    for (const spec of specs) {
      const samples = backend.store.collection(spec)
      await fill(samples, [sample('a')])
      assert.deepEqual(await samples.get('a'), sample('a'))
      assert.equal(await samples.insert(sample('b', { email: sample('a').email })), false)
    }
  },
  'a plan names what prepare would do, and does none of it': async ({ backend }) => {
    const { store } = backend
    if (store.plan === undefined) throw new NotOffered('the store has no `plan`, which is optional')
    const { early, late } = versions()
    const first = await store.plan([early])
    assert.ok(first.length > 0, 'a collection that was never prepared needs a step')
    assert.deepEqual(await store.plan([early]), first, 'a plan must change nothing')
    await store.prepare([early])
    assert.deepEqual(await store.plan([early]), [], 'after prepare there is nothing to do')
    await store.collection(early).insert(earlyDoc('a'))
    assert.ok((await store.plan([late])).length > 0, 'new fields and indexes need steps')
    await store.prepare([late])
    assert.deepEqual(await store.plan([late]), [])
    assert.deepEqual(await store.plan([early]), [], 'an earlier version needs nothing')
  },
  'a field added later reads as its default, a nullable one as null': async ({ backend }) => {
    const { early, late } = versions()
    await backend.store.prepare([early])
    await backend.store.collection(early).insert(earlyDoc('a'))
    await backend.store.prepare([late])
    const collection = backend.store.collection(late)
    assert.deepEqual(await collection.get('a'), lateDoc('a'), 'get must fill in what was absent')
    const page = { limit: 10 }
    assert.deepEqual(await collection.find({ email: 'a@example.test' }, page), [lateDoc('a')])
    const changed = await collection.update('a', { email: 'a@example.test' }, { note: 'n' })
    assert.deepEqual(changed, { ...lateDoc('a'), note: 'n' }, 'update must fill it in')
    assert.deepEqual(await collection.take('a'), { ...lateDoc('a'), note: 'n' })
  },
  'guards and indexes see the default of a field added later': async ({ backend }) => {
    const { early, late } = versions()
    await backend.store.prepare([early])
    await backend.store.collection(early).insert(earlyDoc('a'))
    await backend.store.prepare([late])
    const collection = backend.store.collection(late)
    const page = { limit: 10 }
    assert.deepEqual(await collection.find({ kind: added.kind }, page), [lateDoc('a')])
    const { level } = added
    assert.deepEqual(await collection.find({ note: null, level }, page), [lateDoc('a')])
    const guard = { kind: added.kind, note: null, active: true, level: { lte: level } }
    const changed = { ...lateDoc('a'), level: 4 }
    assert.deepEqual(await collection.update('a', guard, { level: 4 }), changed)
  },
  'a stored null stays null where an absent field reads as its default': async ({ backend }) => {
    const { early } = versions()
    await backend.store.prepare([early])
    await backend.store.collection(early).insert(earlyDoc('absent'))
    const late = notedSpec(early)
    await backend.store.prepare([late])
    const collection = backend.store.collection(late)
    const absent: Noted = { ...earlyDoc('absent'), note: 'none' }
    const stored: Noted = { ...earlyDoc('stored'), note: null }
    assert.equal(await collection.insert(stored), true)
    assert.deepEqual(await collection.get('stored'), stored, 'null was stored, so null is read')
    assert.deepEqual(await collection.get('absent'), absent)
    const page = { limit: 10 }
    assert.deepEqual(await collection.find({ note: null }, page), [stored], 'an index by null')
    assert.deepEqual(await collection.find({ note: 'none' }, page), [absent], 'by the default')
    const set = { note: 'x' }
    assert.equal(await collection.update('stored', { note: 'none' }, set), null)
    assert.equal(await collection.update('absent', { note: null }, set), null)
    const cleared = { ...absent, note: null }
    const answer = await collection.update('absent', { note: 'none' }, { note: null })
    assert.deepEqual(answer, cleared, 'null may be set, too')
    assert.deepEqual(await collection.take('absent', { note: null }), cleared)
    assert.deepEqual(await collection.take('stored', { note: null }), stored)
  },
  'a replica of the earlier version goes on working': async ({ backend }) => {
    const { early, late } = versions()
    await backend.store.prepare([early])
    const old = backend.store.collection(early)
    await old.insert(earlyDoc('a'))
    await backend.store.prepare([late])
    const collection = backend.store.collection(late)
    assert.deepEqual(await old.get('a'), earlyDoc('a'), 'it reads the fields it knows')
    assert.equal(await old.insert(earlyDoc('b')), true)
    assert.deepEqual(await collection.get('b'), lateDoc('b'), 'what it writes reads as default')
    await collection.update('a', { note: null }, { note: 'kept', level: 9 })
    await old.update('a', { email: 'a@example.test' }, { email: 'new@example.test' })
    const both = { ...lateDoc('a'), email: 'new@example.test', note: 'kept', level: 9 }
    assert.deepEqual(await collection.get('a'), both, 'it leaves the fields it does not know')
    await backend.store.prepare([early])
    assert.deepEqual(
      await collection.get('a'),
      both,
      'preparing the earlier version removes nothing',
    )
  },
}
