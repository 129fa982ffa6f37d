import assert from 'node:assert/strict'
import type { Collection, ManyCalls } from '../../ports/store.js'
import { NotOffered, race, type Scripts } from '../shared/conformance-case.js'
import { fill, type Sample, type StoreSetup, sample } from '../shared/sample.js'

interface ManySetup extends StoreSetup {
  readonly many: ManyCalls<Sample>
}

const samplesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => sample(`doc ${String(at).padStart(3, '0')}`))

async function allThere(samples: Collection<Sample>, docs: readonly Sample[]): Promise<void> {
  for (const doc of docs) assert.deepEqual(await samples.get(doc.id), doc)
}

const oddTexts = ['NULL', 'null', '{a,"b"}', "'); --", 'C:\\new', '', ' ', 'Åse\n\t']

const scripts: Scripts<ManySetup> = {
  'a find of many gives those that are there, by id and by a unique field': async (setup) => {
    const docs = samplesOf(500)
    await fill(setup.samples, docs.slice(0, 3))
    const byId = (one: Sample, other: Sample) => (one.id < other.id ? -1 : 1)
    const ids = docs.map(({ id }) => id)
    const found = await setup.many.find('id', ids)
    assert.deepEqual([...found].sort(byId), docs.slice(0, 3))
    const emails = docs.slice(1).map(({ email }) => email)
    assert.deepEqual([...(await setup.many.find('email', emails))].sort(byId), docs.slice(1, 3))
    assert.deepEqual(await setup.many.find('id', ['DOC 000']), [], 'another case is another id')
  },
  'an insert of many stores each as it was given': async ({ samples, many }) => {
    const odd = oddTexts.map((note, at) =>
      sample(`odd ${at}`, {
        note,
        data: { note },
        seenAt: at,
        score: -1 - at,
        expiresAt: 1000 + at,
      }),
    )
    const docs = [...odd, ...samplesOf(500 - odd.length)]
    assert.deepEqual(
      await many.insert(docs),
      docs.map(() => true),
    )
    await allThere(samples, docs)
  },
  'an insert of many leaves out what is taken, and nothing else': async ({ samples, many }) => {
    const [first, second, ...docs] = samplesOf(20)
    assert.ok(first && second)
    await fill(samples, [first, sample('other', { email: second.email })])
    const twins = [sample('twin 1'), sample('twin 2', { email: 'twin 1@example.test' })]
    const answers = await many.insert([{ ...first, count: 9 }, ...docs, second, ...twins])
    const [of1, of2] = answers.slice(-2)
    assert.deepEqual(answers.slice(0, -2), [false, ...docs.map(() => true), false])
    assert.notEqual(of1, of2, 'of two with one unique value, one is stored')
    await allThere(samples, [first, ...docs, ...twins.filter((_, at) => (at === 0 ? of1 : of2))])
    assert.equal(await samples.get(second.id), null)
  },
  'an update of many changes those whose guard holds': async ({ samples, many }) => {
    const docs = samplesOf(4).map((doc, at) => ({ ...doc, count: at % 2 }))
    await fill(samples, docs)
    const ids = ['nobody', ...docs.slice(0, 3).map(({ id }) => id)]
    const changed = await many.update(ids, { count: 0, team: null }, { team: 'red', count: 7 })
    const now = docs.map((doc) => {
      const isMeant = ids.includes(doc.id) && doc.count === 0
      return isMeant ? { ...doc, team: 'red', count: 7 } : doc
    })
    assert.deepEqual(
      changed.map(({ id }) => id).sort(),
      now.filter(({ team }) => team === 'red').map(({ id }) => id),
    )
    for (const doc of changed) assert.deepEqual(doc, await samples.get(doc.id))
    await allThere(samples, now)
  },
  'inserts of many at once store each document once': async ({ samples, many }) => {
    const docs = samplesOf(200)
    const orders = [docs, docs.toReversed(), docs, docs.toReversed()]
    const answers = await race(4, (racer) => many.insert(orders[racer] ?? docs))
    for (const [at, { id }] of docs.entries()) {
      const won = answers.filter((given, racer) => given[racer % 2 === 0 ? at : 199 - at])
      assert.equal(won.length, 1, `one of four stores ${id}`)
    }
    await allThere(samples, docs)
  },
  'a call for none, for too many or by a field that is not unique is refused': async ({ many }) => {
    const docs = samplesOf(501)
    const ids = docs.map(({ id }) => id)
    const calls = [
      () => many.insert([]),
      () => many.insert(docs),
      () => many.insert([{ ...sample('a'), count: 0.5 }]),
      () => many.find('id', ids),
      () => many.find('team', ['red']),
      () => many.find('handle', ['a']),
      () => many.update([], { count: 0 }, { count: 1 }),
      () => many.update(['a'], {}, { count: 1 }),
      () => many.update(['a'], { count: 0 }, {}),
    ]
    for (const [at, call] of calls.entries()) {
      await assert.rejects(call, TypeError, `call ${at}: must reject with a TypeError`)
    }
  },
}

/** The cases of a collection's `many`, which are skipped where it has none. */
export const manyCalls: Scripts<StoreSetup> = Object.fromEntries(
  Object.entries(scripts).map(([name, script]) => [
    name,
    async (setup: StoreSetup) => {
      const { many } = setup.samples
      if (!many) throw new NotOffered('the collection has no `many`, which is optional')
      await script({ ...setup, many })
    },
  ]),
)
