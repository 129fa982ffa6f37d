import { memory } from '../../../adapters/memory/index.js'
import type { Backend } from '../../../src/ports/backend.js'
import type { Collection, Doc } from '../../../src/ports/store.js'

export interface SpyBackend {
  readonly backend: Backend
  /** `client_users.get`, `denylist.find`, …: every call but those of the rate-limit counter. */
  readonly calls: string[]
  /** Everything that was ever handed over to be kept, the counter's keys included. */
  readonly written: unknown[]
  /** From now on every call rejects with what this makes; null ends it. */
  fail(reason: (() => unknown) | null): void
}

/** The memory backend, watched from outside. */
export function spyBackend(inner: Backend = memory()): SpyBackend {
  const calls: string[] = []
  const written: unknown[] = []
  let failure: (() => unknown) | null = null
  async function call<T>(name: string, kept: unknown, work: () => Promise<T>): Promise<T> {
    if (!name.startsWith('counter.')) calls.push(name)
    if (kept !== null) written.push(kept)
    if (failure !== null) throw failure()
    return work()
  }
  function watched<T extends Doc>(name: string, collection: Collection<T>): Collection<T> {
    return {
      get: (id) => call(`${name}.get`, null, () => collection.get(id)),
      find: (equal, page) => call(`${name}.find`, null, () => collection.find(equal, page)),
      insert: (doc) => call(`${name}.insert`, doc, () => collection.insert(doc)),
      update: (id, guard, set) =>
        call(`${name}.update`, set, () => collection.update(id, guard, set)),
      take: (id, guard) => call(`${name}.take`, null, () => collection.take(id, guard)),
      due: (before, limit) => call(`${name}.due`, null, () => collection.due(before, limit)),
      sweep: (before, limit) => call(`${name}.sweep`, null, () => collection.sweep(before, limit)),
    }
  }
  const { store, denylist, lease, counter } = inner
  const { add } = counter
  const backend: Backend = {
    store: {
      collection: (spec) => watched(spec.name, store.collection(spec)),
      prepare: (specs) => store.prepare(specs),
    },
    denylist: {
      put: (entries) => call('denylist.put', entries, () => denylist.put(entries)),
      find: (ids) => call('denylist.find', null, () => denylist.find(ids)),
      sweep: (before, limit) => call('denylist.sweep', null, () => denylist.sweep(before, limit)),
    },
    lease: {
      read: (name) => call('lease.read', null, () => lease.read(name)),
      replace: (name, seen, next) =>
        call('lease.replace', { name, next }, () => lease.replace(name, seen, next)),
    },
    counter: {
      hit: (...hit) => call('counter.hit', hit[0], () => counter.hit(...hit)),
      ...(add && {
        add: (...hits) => call('counter.add', hits[0], () => add.apply(counter, hits)),
      }),
      forgive: (key, hits) => call('counter.forgive', key, () => counter.forgive(key, hits)),
      sweep: (before, limit) => call('counter.sweep', null, () => counter.sweep(before, limit)),
    },
  }
  return {
    backend,
    calls,
    written,
    fail: (reason) => {
      failure = reason
    },
  }
}
