import type { Collection, Doc, ManyCalls } from '../../../src/ports/store.js'
import { always, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

/** Calls for many that send one document after the other, and check nothing of their own. */
function oneByOne<T extends Doc>(right: Collection<T>): ManyCalls<T> {
  return {
    async find(name, values) {
      const found: T[] = []
      for (const value of values) {
        const equal = { [name]: value } as Partial<T>
        const [doc] =
          name === 'id' ? [await right.get(value)] : await right.find(equal, { limit: 1 })
        if (doc) found.push(doc)
      }
      return found
    },
    insert: (docs) => Promise.all(docs.map((doc) => right.insert(doc))),
    async update(ids, guard, set) {
      const changed: T[] = []
      for (const id of ids) {
        const doc = await right.update(id, guard, set)
        if (doc) changed.push(doc)
      }
      return changed
    },
  }
}

/** Fails for all of them, which check nothing. */
const unchecked = 'a call for none, for too many or by a field that is not unique is refused'

const wrongMany = (
  fault: string,
  found: string,
  twist: <T extends Doc>(right: Collection<T>, many: ManyCalls<T>) => Partial<ManyCalls<T>>,
): WrongAdapter =>
  wrong(fault, [found, unchecked], (right) => {
    const many = oneByOne(right)
    return { many: { ...many, ...twist(right, many) } }
  })

export const wrongCallsForMany: readonly WrongAdapter[] = [
  wrongMany('calls for many without checks', unchecked, () => ({})),
  wrongMany(
    'a find of many that knows ids alone',
    'a find of many gives those that are there, by id and by a unique field',
    (_right, many) => ({ find: (_name, values) => many.find('id', values) }),
  ),
  wrongMany(
    'an insert of many that takes the text NULL for null',
    'an insert of many stores each as it was given',
    (_right, many) => ({
      insert: (docs) =>
        many.insert(
          docs.map((doc) => mapFields(doc, (value) => (value === 'NULL' ? null : value))),
        ),
    }),
  ),
  wrongMany(
    'an insert of many that stores none where one is taken',
    'an insert of many leaves out what is taken, and nothing else',
    (right, many) => ({
      async insert(docs) {
        const answers = await many.insert(docs)
        if (!answers.includes(false)) return answers
        for (const [at, { id }] of docs.entries()) if (answers[at]) await right.take(id)
        return docs.map(() => false)
      },
    }),
  ),
  wrongMany(
    'an update of many that tests no guard',
    'an update of many changes those whose guard holds',
    (_right, many) => ({
      async update(ids, _guard, set) {
        const changed = ids.map((id) => many.update([id], always(id), set))
        return (await Promise.all(changed)).flat()
      },
    }),
  ),
  wrongMany(
    'an insert of many that says that it stored what is there afterwards',
    'inserts of many at once store each document once',
    (_right, many) => ({
      async insert(docs) {
        await many.insert(docs)
        const ids = new Set(
          (
            await many.find(
              'id',
              docs.map(({ id }) => id),
            )
          ).map(({ id }) => id),
        )
        return docs.map((doc) => ids.has(doc.id))
      },
    }),
  ),
]
