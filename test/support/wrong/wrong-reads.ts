import type {
  AnyCollectionSpec,
  Collection,
  CollectionSpec,
  Doc,
} from '../../../src/ports/store.js'
import { field, judged, mapFields, type WrongAdapter, wrong } from './wrong-adapter.js'

export const wrongReads: readonly WrongAdapter[] = [
  wrong('a get that answers undefined', ['get of an unknown id answers null'], (right) => ({
    async get(id) {
      return (await right.get(id)) ?? (undefined as unknown as null) // as Map.get would
    },
  })),
  wrong('a get that hides the expired', ['an expired document is not hidden'], (right) => ({
    async get(id) {
      const doc = await right.get(id)
      return doc && doc.expiresAt !== null && doc.expiresAt <= Date.now() ? null : doc
    },
  })),
  wrong(
    'reads from a replica that lags behind',
    ['what a write acknowledged, the next read sees'],
    <T extends Doc>(right: Collection<T>) => {
      const lagging = new Map<string, T>()
      return {
        async get(id: string): Promise<T | null> {
          const before = lagging.get(id)
          const now = await right.get(id)
          if (now) lagging.set(id, now)
          return before ?? now
        },
      }
    },
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
    'a find that compares one field of its index',
    ['find returns the documents equal in every field of an index'],
    (right) => {
      const ids = new Set<string>()
      return {
        async insert(doc) {
          ids.add(doc.id)
          return right.insert(doc)
        },
        async find(equal, page) {
          const found = await right.find(equal, page)
          if (Object.keys(equal).length < 2) return found
          const [first] = Object.entries(equal)
          const docs = await Promise.all([...ids].sort().map((id) => right.get(id)))
          const same = docs.filter((doc) => doc !== null)
          return same.filter((doc) => judged(doc, Object.fromEntries([first ?? []])))
        },
      }
    },
  ),
  wrong(
    'a find by null that finds nothing, as `= null` does',
    ['find by null returns the documents that hold null'],
    (right) => ({
      async find(equal, page) {
        const found = await right.find(equal, page)
        return Object.values(equal).includes(null) ? [] : found
      },
    }),
  ),
  wrong('an index that updates forget', ['find follows updates and takes'], (right) => {
    const indexed = new Map<string, object>()
    return {
      async insert(doc) {
        const inserted = await right.insert(doc)
        if (inserted) indexed.set(doc.id, structuredClone(doc))
        return inserted
      },
      async find(equal, page) {
        const found = await right.find(equal, { limit: 1000 })
        const stale = [...indexed].filter(([, doc]) => judged(doc, equal)).map(([id]) => id)
        const docs = await Promise.all(stale.map((id) => right.get(id)))
        const known = new Set(found.map(({ id }) => id))
        const lost = docs.filter((doc) => doc !== null).filter(({ id }) => !known.has(id))
        return lost.length > 0 ? lost : right.find(equal, page)
      },
    }
  }),
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
    'a find that looks for pages in dictionary order',
    ['pages cover every document once, in both directions'],
    (right) => ({
      async find(equal, { after, limit }) {
        const docs = [...(await right.find(equal, { limit: 1000 }))]
        const sorted = docs.sort((a, b) => a.id.localeCompare(b.id, 'en'))
        const rest = after === undefined ? sorted : sorted.filter(({ id }) => id > after)
        return rest.slice(0, limit)
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
  wrong('a find of a hundred at most', ['find returns up to 1,000 documents'], (right) => ({
    async find(equal, page) {
      await right.find(equal, page)
      return right.find(equal, { ...page, limit: Math.min(100, page.limit) })
    },
  })),
  wrong(
    'a find that scans what has no index and takes any page',
    [
      'find without an index on exactly its fields rejects',
      'pages of less than 1 or more than 1,000 reject',
    ],
    (right) => ({ find: (equal, page) => right.find(equal, page).catch(() => []) }),
  ),
  wrong(
    'a due that takes any time and any limit',
    ['due and sweep by what is no time, or of no documents, reject'],
    (right) => ({ due: (before, limit) => right.due(before, limit).catch(() => []) }),
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
  wrong(
    'a due that takes what it returns',
    ['due follows updates and takes, and removes nothing'],
    (right) => ({
      async due(before, limit) {
        const docs = await right.due(before, limit)
        for (const { id } of docs) await right.take(id)
        return docs
      },
    }),
  ),
  wrong(
    'a stored null that reads as the default, as `??` has it',
    ['a stored null stays null where an absent field reads as its default'],
    <T extends Doc>(right: Collection<T>, spec: CollectionSpec<T>) => {
      const { fields }: AnyCollectionSpec = spec
      return {
        async get(id: string): Promise<T | null> {
          const doc = await right.get(id)
          return doc && mapFields(doc, (value, name) => value ?? fields[name]?.default ?? null)
        },
      }
    },
  ),
  wrong(
    'a default that get alone fills in',
    ['guards and indexes see the default of a field added later'],
    (right, spec) => ({
      async find(equal, page) {
        const found = await right.find(equal, page)
        const defaulted = Object.keys(equal).some((name) => {
          const declared: unknown = field(spec.fields, name)
          return typeof declared === 'object' && declared !== null && 'default' in declared
        })
        return defaulted ? [] : found
      },
    }),
  ),
]
