import type { Backend } from '../../src/ports/backend.js'
import type { AnyCollectionSpec, Collection, CollectionSpec, Doc } from '../../src/ports/store.js'
import { always, field, judged, mapFields, type Twist } from '../adapters/wrong/wrong-adapter.js'

/**
 * An adapter as its author might have written it, and the cases that find its fault. Its driver is
 * a right backend, each call of which is one command; with every command in its place the adapter
 * would be right as well.
 */
export interface PlantedAdapter {
  readonly fault: string
  readonly adapter: (driver: Backend) => Backend
  /** Every case that fails; no other may. */
  readonly found: readonly string[]
}

export type Declare = <S extends AnyCollectionSpec>(spec: S) => S

export function planted(
  fault: string,
  twist: Twist,
  found: readonly string[],
  declare: Declare = (spec) => spec,
): PlantedAdapter {
  const adapter = ({ store, denylist, lease, counter }: Backend): Backend => ({
    ...{ denylist, lease, counter },
    store: {
      prepare: (specs) => store.prepare(specs.map(declare)),
      collection<T extends Doc>(spec: CollectionSpec<T>): Collection<T> {
        const driver = store.collection(declare(spec))
        const { get, find, insert, update, take, due, sweep } = driver
        return { get, find, insert, update, take, due, sweep, ...twist(driver, spec) }
      },
    },
  })
  return { fault, found, adapter }
}

/** The driver refuses what is malformed, before the adapter goes its own way. */
const nobody = 'nobody has this id'

const readThenWrite: Twist = (driver) => ({
  async update(id, guard, set) {
    await driver.update(nobody, guard, set)
    const seen = await driver.get(id)
    if (!seen || !judged(seen, guard)) return null
    return driver.update(id, always(id), set)
  },
})

/** Looks whether a unique value is taken, in a collection that does not refuse a second one. */
export const lostUnique: Twist = (driver, { indexes }) => {
  async function isTaken(doc: object, own: string): Promise<boolean> {
    for (const { on, unique } of indexes) {
      if (!unique) continue
      // A tuple of the document's own values: a part of a document, as `find` wants it.
      const equal = Object.fromEntries(on.map((name) => [name, field(doc, name)])) as object
      const found = await driver.find(equal, { limit: 2 })
      if (found.some(({ id }) => id !== own)) return true
    }
    return false
  }
  return {
    async insert(doc) {
      return !(await isTaken(doc, doc.id)) && driver.insert(doc)
    },
    async update(id, guard, set) {
      await driver.update(nobody, guard, set)
      const seen = await driver.get(id)
      if (!seen || !judged(seen, guard) || (await isTaken({ ...seen, ...set }, id))) return null
      return driver.update(id, guard, set)
    },
  }
}

export const withoutUnique: Declare = (spec) => {
  return { ...spec, indexes: spec.indexes.map(({ on }) => ({ on })) }
}

const blindUpdate: Twist = (driver) => ({
  async update(id, guard, set) {
    await driver.update(nobody, guard, set)
    return driver.update(id, always(id), set)
  },
})

const nullMatchesMissing: Twist = (driver) => ({
  update: (id, guard, set) =>
    driver.update(
      id,
      mapFields(guard, (test) => test ?? null),
      set,
    ),
  take(id, guard) {
    return driver.take(id, guard && mapFields(guard, (test) => test ?? null))
  },
})

/** Answers `nothing` where the connection broke. */
async function swallowed<R>(call: Promise<R>, nothing: R): Promise<R> {
  try {
    return await call
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ECONNRESET') return nothing
    throw error
  }
}

const swallowedError: Twist = (driver) => ({
  get: (id) => swallowed(driver.get(id), null),
  insert: (doc) => swallowed(driver.insert(doc), false),
  update: (id, guard, set) => swallowed(driver.update(id, guard, set), null),
  take: (id, guard) => swallowed(driver.take(id, guard), null),
})

/** As a store whose indexes are apart from its documents. */
const indexThenRead: Twist = (driver) => ({
  async find(equal, page) {
    const named = await driver.find(equal, page)
    const docs = await Promise.all(named.map(({ id }) => driver.get(id)))
    return docs.filter((doc) => doc !== null)
  },
})

export const plantedAdapters: readonly PlantedAdapter[] = [
  planted('read-then-write', readThenWrite, [
    'interleaved: of two updates with one guard, one wins',
    'interleaved: of three updates with one guard, one wins',
    'of eight updates with one guard, one wins and the others answer null',
    'eight racers counting by compare-and-set reach eight',
    'a due document is claimed by one of eight racers',
  ]),
  planted(
    'lost unique',
    lostUnique,
    [
      'interleaved: of two inserts of one unique value, one answers true',
      'interleaved: of three inserts of one unique value, one answers true',
      'interleaved: of two updates to one unique value, one wins and one answers null',
      'interleaved: of an insert and an update to one unique value, one wins',
      'of eight inserts of one unique value, one answers true',
      'of eight documents updated to one unique value, one wins, the others answer null',
      'of an insert and an update to one unique value, one wins',
    ],
    withoutUnique,
  ),
  planted('blind update', blindUpdate, [
    'an update to the values that are there already answers the document',
    'a guard on equality holds for the same value only, of every kind',
    'every field of a guard must hold',
    'a guard of null equals only null',
    'a guard of a value never equals null',
    'the empty text is not null',
    'a guard with `in` holds for any of its values',
    'a guard with an empty `in` holds for nothing',
    'null among the values of `in` equals only null',
    'a stored null stays null where an absent field reads as its default',
    'awkward text is compared as it is',
    'a guard goes by what another process wrote',
    'a guard with `gt` holds strictly above its bound',
    'a guard with `lte` holds at and below its bound',
    'a bound never holds for null',
    'a guard can test expiresAt',
    'numbers keep every digit up to ±(2^53 − 1)',
    'interleaved: of two updates with one guard, one wins',
    'interleaved: of three updates with one guard, one wins',
    'of eight updates with one guard, one wins and the others answer null',
    'eight racers counting by compare-and-set reach eight',
    'a due document is claimed by one of eight racers',
  ]),
  planted('index, then read', indexThenRead, [
    'interleaved: no page is empty for a document that was taken while more follow',
  ]),
  planted('null matching missing', nullMatchesMissing, [
    'undefined in a guard rejects: it never matches, not even null',
  ]),
  planted('swallowed error', swallowedError, [
    'reads of a failing backend reject, and never answer "not found"',
    'writes of a failing backend reject, and never answer null or false',
    'a read whose answer was lost never answers "not found"',
    'an insert whose answer was lost rejects',
    'an update whose answer was lost rejects and is not repeated',
    'a take whose answer was lost rejects instead of answering null',
  ]),
]
