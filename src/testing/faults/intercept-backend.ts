import type { Backend, Counter } from '../../ports/backend.js'
import type { Collection, Doc, ManyCalls } from '../../ports/store.js'

/** What a read would have given before the last write; null when it gave the same. */
export type Older<T> = (now: T) => T | null

/**
 * Stands around every call of a backend. `name` is `operator_users.update`, `denylist.put`; `work`
 * carries the call out, and may be left out or run again. `older` tells what a read from a replica
 * that lags behind would have given, where that is known.
 */
export type Around = <T>(name: string, work: () => Promise<T>, older?: Older<T>) => Promise<T>

/** The options of `faultyBackend`. */
export interface InterceptOptions {
  /** Remembers each document as it was before its last write, at the cost of a read per write. */
  readonly keepsVersions?: boolean
}

/** The same backend with `around` around every call but `prepare`. */
export function interceptBackend(
  { store, denylist, lease, counter }: Backend,
  around: Around,
  { keepsVersions = false }: InterceptOptions = {},
): Backend {
  return {
    store: {
      collection(spec) {
        const inner = store.collection(spec)
        const versions = keepsVersions ? versionsOf(inner) : null
        return interceptCollection(versions?.collection ?? inner, spec.name, around, versions)
      },
      prepare: (specs) => store.prepare(specs),
    },
    denylist: {
      put: (entries) => around('denylist.put', () => denylist.put(entries)),
      find: (ids) =>
        around(
          'denylist.find',
          () => denylist.find(ids),
          // An entry has no version before the one that lists it.
          (found) => (found.length > 0 ? [] : null),
        ),
      sweep: (before, limit) => around('denylist.sweep', () => denylist.sweep(before, limit)),
    },
    lease: {
      read: (name) => around('lease.read', () => lease.read(name)),
      replace: (name, seen, next) => around('lease.replace', () => lease.replace(name, seen, next)),
    },
    counter: interceptCounter(counter, around),
  }
}

function interceptCounter(counter: Counter, around: Around): Counter {
  const { add } = counter
  return {
    hit: (...hit) => around('counter.hit', () => counter.hit(...hit)),
    ...(add && { add: (...hits) => around('counter.add', () => add.apply(counter, hits)) }),
    forgive: (key, hits) => around('counter.forgive', () => counter.forgive(key, hits)),
    sweep: (before, limit) => around('counter.sweep', () => counter.sweep(before, limit)),
  }
}

interface Versions<T extends Doc> {
  /** The same collection, whose writes are remembered. */
  readonly collection: Collection<T>
  before(id: string): T | null
}

function versionsOf<T extends Doc>(inner: Collection<T>): Versions<T> {
  const versions = new Map<string, T>()

  async function replacing<R>(id: string, write: () => Promise<R>): Promise<R> {
    const before = await inner.get(id)
    const result = await write()
    if (before !== null && result !== null) versions.set(id, before)
    return result
  }

  return {
    before: (id) => versions.get(id) ?? null,
    collection: {
      get: (id) => inner.get(id),
      find: (equal, page) => inner.find(equal, page),
      insert: (doc) => inner.insert(doc),
      update: (id, guard, set) => replacing(id, () => inner.update(id, guard, set)),
      take: (id, guard) => replacing(id, () => inner.take(id, guard)),
      due: (before, limit) => inner.due(before, limit),
      sweep: (before, limit) => inner.sweep(before, limit),
    },
  }
}

function interceptCollection<T extends Doc>(
  inner: Collection<T>,
  name: string,
  around: Around,
  versions: Versions<T> | null,
): Collection<T> {
  const before = (id: string): T | null => versions?.before(id) ?? null
  return {
    get: (id) =>
      around(
        `${name}.get`,
        () => inner.get(id),
        () => before(id),
      ),
    find: (equal, page) =>
      around(
        `${name}.find`,
        () => inner.find(equal, page),
        (found) => {
          const older = found.map((doc) => before(doc.id) ?? doc)
          return found.some(({ id }) => before(id)) ? older : null
        },
      ),
    insert: (doc) => around(`${name}.insert`, () => inner.insert(doc)),
    update: (id, guard, set) => around(`${name}.update`, () => inner.update(id, guard, set)),
    take: (id, guard) => around(`${name}.take`, () => inner.take(id, guard)),
    due: (until, limit) => around(`${name}.due`, () => inner.due(until, limit)),
    sweep: (until, limit) => around(`${name}.sweep`, () => inner.sweep(until, limit)),
    ...(inner.many && { many: interceptMany(inner.many, name, around) }),
  }
}

/** Under the names of the calls for one, as which each document counts. */
function interceptMany<T extends Doc>(
  inner: ManyCalls<T>,
  name: string,
  around: Around,
): ManyCalls<T> {
  return {
    find: (field, values) =>
      around(`${name}.${field === 'id' ? 'get' : 'find'}`, () => inner.find(field, values)),
    insert: (docs) => around(`${name}.insert`, () => inner.insert(docs)),
    update: (ids, guard, set) => around(`${name}.update`, () => inner.update(ids, guard, set)),
  }
}
