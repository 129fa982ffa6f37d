import { memory } from '../../../adapters/memory/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import type {
  AnyCollectionSpec,
  Collection,
  CollectionSpec,
  Doc,
  FieldSpec,
  MigrationStep,
  Store,
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

/** An update whose guard goes through `change` first, which is given the stored value. */
function misread(
  fault: string,
  found: readonly string[],
  change: (test: unknown, stored: unknown) => unknown,
): WrongAdapter {
  return wrong(fault, found, (right) => ({
    async update(id, guard, set) {
      const seen: object = (await right.get(id)) ?? {}
      const read = mapFields(guard, (test, name) => change(test, field(seen, name)))
      return right.update(id, read, set)
    },
  }))
}

function bound(test: unknown, name: 'gt' | 'lte'): number | null {
  const operand: unknown = typeof test === 'object' && test !== null ? field(test, name) : null
  return typeof operand === 'number' ? operand : null
}

function listOf(test: unknown): readonly unknown[] | null {
  const operand: unknown = typeof test === 'object' && test !== null ? field(test, 'in') : null
  return Array.isArray(operand) ? operand : null
}

export const wrongGuards: readonly WrongAdapter[] = [
  misread(
    'a guard whose undefined matches null',
    ['undefined in a guard rejects: it never matches, not even null'],
    (test) => test ?? null,
  ),
  misread(
    'a null guard that matches the empty text and zero as well',
    ['a guard of null equals only null', 'the empty text is not null'],
    (test, stored) => (test === null && (stored === '' || stored === 0) ? stored : test),
  ),
  misread(
    'a stored null that equals whatever it is compared with',
    ['a guard of a value never equals null'],
    (test, stored) => (stored === null && typeof test !== 'object' ? null : test),
  ),
  misread(
    'an `in` that looks at its first value only',
    ['a guard with `in` holds for any of its values'],
    (test) => {
      const list = listOf(test)
      return list && list.length > 0 ? { in: list.slice(0, 1) } : test
    },
  ),
  misread(
    'an empty `in` that holds for everything',
    ['a guard with an empty `in` holds for nothing'],
    (test, stored) => (listOf(test)?.length === 0 ? stored : test),
  ),
  misread(
    'an `in` that overlooks null, as SQL does',
    ['null among the values of `in` equals only null'],
    (test) => {
      const list = listOf(test)
      return list ? { in: list.filter((value) => value !== null) } : test
    },
  ),
  misread(
    'text compared without its quotes and blanks',
    ['awkward text is compared as it is'],
    (test, stored) => {
      const bare = (value: unknown) => String(value).replace(/[\s'"\\]/g, '')
      return typeof test === 'string' && bare(test) !== test ? bare(stored) : test
    },
  ),
  misread(
    '`gt` that includes its bound',
    ['a guard with `gt` holds strictly above its bound'],
    (test) => {
      const operand = bound(test, 'gt')
      return operand === null ? test : { gt: Math.max(Number.MIN_SAFE_INTEGER, operand - 1) }
    },
  ),
  misread(
    '`lte` that excludes its bound',
    ['a guard with `lte` holds at and below its bound'],
    (test) => {
      const operand = bound(test, 'lte')
      return operand === null ? test : { lte: operand - 1 }
    },
  ),
  misread(
    'a null that is less than any number',
    ['a bound never holds for null', 'a guard can test expiresAt'],
    (test, stored) => (stored === null && bound(test, 'lte') !== null ? null : test),
  ),
]

export const wrongSchemas: readonly WrongAdapter[] = [
  {
    fault: 'unique indexes that are not kept',
    found: [
      'insert on a taken unique value answers false and stores nothing',
      'a unique index on two fields refuses only both together',
      'a refused unique value answers null and changes nothing',
      'of eight inserts of one unique value, one answers true',
      'of eight documents updated to one unique value, one wins, the others answer null',
      'of an insert and an update to one unique value, one wins',
      'two bindings of one collection share its documents',
    ],
    twist: ({ store }) => ({
      store: {
        collection: (spec) => {
          return store.collection({ ...spec, indexes: spec.indexes.map(({ on }) => ({ on })) })
        },
        prepare: async () => {},
      },
    }),
  },
  {
    fault: 'bindings that keep documents of their own',
    found: [
      'two bindings of one collection share its documents',
      'a replica of the earlier version goes on working',
    ],
    twist: () => ({
      store: { collection: (spec) => memory().store.collection(spec), prepare: async () => {} },
    }),
  },
  {
    fault: 'collections that share one key space',
    found: ['two collections share neither ids nor unique values'],
    twist: ({ store }) => {
      const ids = new Set<string>()
      return {
        store: {
          ...store,
          collection(spec) {
            const right = store.collection(spec)
            return {
              ...right,
              async insert(doc) {
                if (ids.has(doc.id)) return false
                ids.add(doc.id)
                return right.insert(doc)
              },
            }
          },
        },
      }
    },
  },
  {
    fault: 'a prepare that works once only',
    found: ['prepare may be repeated and changes no document', 'prepare by eight at once works'],
    twist: ({ store }) => {
      const prepared = new Set<string>()
      return {
        store: {
          ...store,
          async prepare(specs) {
            for (const { name } of specs) {
              if (prepared.has(name)) throw new Error(`${name} already exists`)
              prepared.add(name)
            }
            await store.prepare(specs)
          },
        },
      }
    },
  },
  {
    fault: 'fields added later that read as null in older documents',
    found: [
      'a field added later reads as its default, a nullable one as null',
      'guards and indexes see the default of a field added later',
      'a replica of the earlier version goes on working',
    ],
    twist: ({ store }) => {
      const without = (declared: unknown) => {
        const { kind, default: filled } = declared as FieldSpec
        return filled === undefined ? declared : { kind, nullable: true }
      }
      return {
        store: {
          collection: (spec) => {
            return store.collection({ ...spec, fields: mapFields(spec.fields, without) })
          },
          prepare: async () => {},
        },
      }
    },
  },
]

type Plan = NonNullable<Store['plan']>

/** What a store knows of what was prepared. */
interface Prepared {
  /** The steps of these collections that are left. */
  readonly left: (specs: readonly AnyCollectionSpec[]) => readonly MigrationStep[]
  readonly all: (specs: readonly AnyCollectionSpec[]) => readonly MigrationStep[]
  readonly prepare: Store['prepare']
}

const nameStep = (name: string): MigrationStep => ({ name, statement: null, blocks: 0 })

function stepsOf({ name, fields }: AnyCollectionSpec): readonly MigrationStep[] {
  return ['table', ...Object.keys(fields)].map((part) => nameStep(`${name}/${part}`))
}

/** The store with a plan of fields, which `planned` makes of what was prepared. */
function planning(right: Backend, planned: (prepared: Prepared) => Plan): Partial<Backend> {
  const done = new Set<string>()
  const all: Prepared['all'] = (specs) => specs.flatMap(stepsOf)
  const prepared: Prepared = {
    all,
    left: (specs) => all(specs).filter(({ name }) => !done.has(name)),
    async prepare(specs) {
      await right.store.prepare(specs)
      for (const { name } of all(specs)) done.add(name)
    },
  }
  return { store: { ...right.store, prepare: prepared.prepare, plan: planned(prepared) } }
}

/** A store whose plan keeps its promise. */
export function rightlyPlanned(right: Backend): Backend {
  return {
    ...right,
    ...planning(
      right,
      ({ left }) =>
        async (specs) =>
          left(specs),
    ),
  }
}

const found = ['a plan names what prepare would do, and does none of it']

export const wrongPlans: readonly WrongAdapter[] = [
  {
    fault: 'a plan that names nothing',
    found,
    twist: (right) => planning(right, () => async () => []),
  },
  {
    fault: 'a plan that does what it names',
    found,
    twist: (right) =>
      planning(right, ({ left, prepare }) => async (specs) => {
        const steps = left(specs)
        await prepare(specs)
        return steps
      }),
  },
  {
    fault: 'a plan that names what is done',
    found,
    twist: (right) =>
      planning(
        right,
        ({ all }) =>
          async (specs) =>
            all(specs),
      ),
  },
  {
    fault: 'a plan that overlooks what is new in a collection',
    found,
    twist: (right) =>
      planning(
        right,
        ({ left }) =>
          async (specs) =>
            left(specs).filter(({ name }) => name.endsWith('/table')),
      ),
  },
]
