import { setImmediate as turn } from 'node:timers/promises'
import type { Collection, CollectionSpec, Doc, Guard } from '../../src/ports/store.js'
import type { WrongAdapter } from './wrong-ports.js'

/** What a wrong collection does differently from the right one it is made of. */
type Twist = <T extends Doc>(
  right: Collection<T>,
  spec: CollectionSpec<T>,
) => Partial<Collection<T>>

function wrong(fault: string, found: readonly string[], twist: Twist): WrongAdapter {
  return {
    fault,
    found,
    twist: ({ store }) => ({
      store: {
        ...store,
        collection(spec) {
          const right = store.collection(spec)
          return { ...right, ...twist(right, spec) }
        },
      },
    }),
  }
}

/** A guard that holds of whatever is stored under the id: what a blind write amounts to. */
function always<T extends Doc>(id: string): Guard<T> {
  const guard: Guard<Doc> = { id }
  return guard as Guard<T>
}

/** Whether the guard holds of a document, judged outside of the write it belongs to. */
function judged(doc: object, guard: object): boolean {
  const values = new Map<string, unknown>(Object.entries(doc))
  return Object.entries(guard).every(([name, test]) => {
    const value = values.get(name)
    if (typeof test !== 'object' || test === null) return value === test
    if ('in' in test) return test.in.includes(value)
    if ('gt' in test) return typeof value === 'number' && value > test.gt
    return typeof value === 'number' && value <= test.lte
  })
}

const withoutUnique: WrongAdapter = {
  fault: 'unique indexes that are not kept',
  found: [
    'insert on a taken unique value answers false and stores nothing',
    'a unique index on two fields refuses only both together',
    "update to a taken unique value answers 'taken' and changes nothing",
    'of eight inserts of one unique value, one answers true',
    "of eight documents updated to one unique value, one wins, the others answer 'taken'",
    'of an insert and an update to one unique value, one wins',
  ],
  twist: ({ store }) => ({
    store: {
      collection: (spec) => {
        return store.collection({ ...spec, indexes: spec.indexes.map(({ on }) => ({ on })) })
      },
      prepare: async () => {},
    },
  }),
}

export const wrongStores: readonly WrongAdapter[] = [
  withoutUnique,
  wrong(
    'an update that reads, then writes',
    [
      'of eight updates with one guard, one wins and the others answer null',
      'eight racers counting by compare-and-set reach eight',
      'a due document is claimed by one of eight racers',
    ],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        if (seen && !judged(seen, guard)) return null
        return right.update(id, always(id), set)
      },
    }),
  ),
  wrong(
    'an update that writes back the whole document it read',
    ['racing updates of different fields lose nothing'],
    (right) => ({
      async update(id, guard, set) {
        const seen = await right.get(id)
        if (!seen || !judged(seen, guard)) return right.update(id, guard, set)
        const { id: _, ...rest } = seen
        await right.update(id, guard, set)
        return right.update(id, always(id), { ...rest, ...set } as Partial<Omit<typeof seen, 'id'>>)
      },
    }),
  ),
  wrong(
    'an update that ignores its guard',
    [
      'a guard on equality holds for the same value only, of every kind',
      "a guard that misses answers null, never 'taken'",
      'of eight updates with one guard, one wins and the others answer null',
    ],
    (right) => ({ update: (id, _guard, set) => right.update(id, always(id), set) }),
  ),
  wrong(
    'an update that inserts what is missing',
    ['update of an unknown id answers null and stores nothing'],
    (right, spec) => ({
      async update(id, guard, set) {
        const updated = await right.update(id, guard, set)
        if (updated !== null || (await right.get(id))) return updated
        const blank = Object.entries(spec.fields).map(([name, field]) => {
          const { kind, nullable } = field as { kind: string; nullable?: true }
          const empty = { text: id, integer: 0, boolean: true, time: 0, json: {} }
          return [name, nullable ? null : empty[kind as keyof typeof empty]]
        })
        await right.insert({ ...Object.fromEntries(blank), expiresAt: null, ...set, id })
        return right.get(id)
      },
    }),
  ),
  wrong(
    "an update that answers null where the unique value is 'taken'",
    ["update to a taken unique value answers 'taken' and changes nothing"],
    (right) => ({
      async update(id, guard, set) {
        const updated = await right.update(id, guard, set)
        return updated === 'taken' ? null : updated
      },
    }),
  ),
  wrong(
    'a guard whose undefined matches null',
    ['undefined in a guard rejects: it never matches, not even null'],
    (right) => ({
      update: (id, guard, set) => {
        const bound = Object.entries(guard).map(([name, test]) => [name, test ?? null])
        return right.update(id, Object.fromEntries(bound), set)
      },
    }),
  ),
  wrong(
    'a null guard that matches the empty text and zero as well',
    ['a guard of null equals only null', 'the empty text is not null'],
    (right) => ({
      async update(id, guard, set) {
        const seen: object = (await right.get(id)) ?? {}
        const loose = Object.entries(guard).map(([name, test]) => {
          const value: unknown = Reflect.get(seen, name)
          return [name, test === null && (value === '' || value === 0) ? value : test]
        })
        return right.update(id, Object.fromEntries(loose), set)
      },
    }),
  ),
  wrong(
    'failures that are swallowed and answered as null',
    [
      'an empty guard rejects',
      'an empty set rejects',
      'values that are not of their kind reject',
      'undeclared fields reject',
    ],
    (right) => ({
      update: (id, guard, set) => right.update(id, guard, set).catch(() => null),
      take: (id, guard) => right.take(id, guard).catch(() => null),
      insert: (doc) => right.insert(doc).catch(() => false),
    }),
  ),
  wrong(
    'a take that reads, then removes',
    ['of eight takes, one receives the document'],
    (right) => ({
      async take(id, guard) {
        const seen = await right.get(id)
        if (!seen || (guard && !judged(seen, guard))) return right.take(id, guard)
        await right.take(id)
        return seen
      },
    }),
  ),
  wrong(
    'a take that ignores its guard',
    [
      'a guarded take removes only while its guard holds',
      'of an update racing a take with one guard, one wins',
    ],
    (right) => ({ take: (id) => right.take(id) }),
  ),
  wrong(
    'an insert that looks, then writes',
    ['of eight inserts of one id, one answers true'],
    (right) => ({
      async insert(doc) {
        if (await right.get(doc.id)) return false
        await turn()
        return (await right.insert(doc)) || true
      },
    }),
  ),
  wrong(
    'an insert that overwrites',
    ['insert on a taken id answers false and changes nothing'],
    (right) => ({
      async insert(doc) {
        await right.take(doc.id)
        return right.insert(doc)
      },
    }),
  ),
  wrong('a get that hides the expired', ['an expired document is not hidden'], (right) => ({
    async get(id) {
      const doc = await right.get(id)
      return doc && doc.expiresAt !== null && doc.expiresAt <= Date.now() ? null : doc
    },
  })),
  wrong(
    'a find in dictionary order',
    ['find sorts ids by code unit, whatever the locale'],
    (right) => ({
      async find(equal, page) {
        const docs = await right.find(equal, page)
        return [...docs].sort((a, b) => a.id.localeCompare(b.id, 'en'))
      },
    }),
  ),
  wrong(
    'a find whose cursor has to exist',
    [
      'a page starts strictly after an id, which need not exist',
      'newestFirst starts strictly before an id, which need not exist',
    ],
    (right) => ({
      async find(equal, { after, ...page }) {
        const exists = after !== undefined && (await right.get(after))
        return right.find(equal, exists ? { ...page, after } : page)
      },
    }),
  ),
  wrong(
    'a find that scans what has no index',
    ['find without an index on exactly its fields rejects'],
    (right) => ({ find: (equal, page) => right.find(equal, page).catch(() => []) }),
  ),
  wrong('documents shared with the caller', ['documents given in and out are copies'], (right) => {
    const shared = new Map<string, object>()
    return {
      async get(id) {
        const doc = await right.get(id)
        const known = shared.get(id) ?? doc
        if (known) shared.set(id, known)
        return doc && (known as typeof doc)
      },
      async update(id, guard, set) {
        shared.delete(id)
        return right.update(id, guard, set)
      },
      async take(id, guard) {
        const taken = await right.take(id, guard)
        if (taken) shared.delete(id)
        return taken
      },
    }
  }),
  wrong(
    'a sweep that goes by the day',
    ['sweep removes what expired at or before a time, never earlier'],
    (right) => ({
      sweep: (before, limit) => right.sweep(before - (before % 86_400_000) + 86_399_999, limit),
    }),
  ),
  wrong(
    'a sweep that chooses, then removes without another look',
    ['of a renewal racing a sweep, one wins and the other sees it'],
    (right) => ({
      async sweep(before, limit) {
        const chosen = await right.due(before, limit)
        await turn()
        for (const { id } of chosen) await right.take(id)
        return { removed: chosen.length, left: (await right.due(before, 1000)).length }
      },
    }),
  ),
  wrong(
    'a sweep of what is due or lasts',
    ['sweep rejects where nothing may be swept'],
    (right) => ({
      sweep: (before, limit) => right.sweep(before, limit).catch(() => ({ removed: 0, left: 0 })),
    }),
  ),
  wrong(
    'a due list in the order of ids',
    ['due returns what falls due at or before a time, earliest first'],
    (right) => ({
      async due(before, limit) {
        const docs = await right.due(before, 1000)
        return [...docs].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit)
      },
    }),
  ),
]
