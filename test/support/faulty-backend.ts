import type { Backend } from '../../src/ports/backend.js'
import type { Collection, Doc } from '../../src/ports/store.js'

/** `before`: the call does nothing and rejects. `after`: it takes effect and the answer is lost. */
export type FaultMode = 'before' | 'after'

/** A backend with a hand on every call. Calls are named `operator_users.update`, `counter.hit`. */
export interface FaultyBackend {
  readonly backend: Backend
  /** Names of all calls so far, in the order they began. */
  readonly calls: readonly string[]
  /** The next `times` calls of this name fail; one by default, `Infinity` until `heal`. */
  failNext(call: string, mode: FaultMode, times?: number): void
  /** Runs `hook` once, just before the next call of this name, which waits for it. */
  onCall(call: string, hook: () => Promise<void> | void): void
  /** Drops what `failNext` and `onCall` asked for and did not come yet. */
  heal(): void
}

interface Fault {
  readonly mode: FaultMode
  left: number
}

export type Call = <T>(name: string, work: () => Promise<T>) => Promise<T>

export function faultyBackend(inner: Backend): FaultyBackend {
  const calls: string[] = []
  const faults = new Map<string, Fault>()
  const hooks = new Map<string, () => Promise<void> | void>()

  function takeFault(name: string): FaultMode | null {
    const fault = faults.get(name)
    if (fault === undefined || fault.left < 1) return null
    fault.left -= 1
    return fault.mode
  }

  const call: Call = async (name, work) => {
    calls.push(name)
    const hook = hooks.get(name)
    // Gone before it runs: a hook may make calls of this name itself.
    hooks.delete(name)
    await hook?.()
    const mode = takeFault(name)
    if (mode === 'before') throw new Error(`${name}: the connection was refused`)
    const result = await work()
    if (mode === 'after') throw new Error(`${name}: the connection broke`)
    return result
  }

  return {
    backend: withCall(inner, call),
    calls,
    failNext(name, mode, times = 1) {
      faults.set(name, { mode, left: times })
    },
    onCall(name, hook) {
      hooks.set(name, hook)
    },
    heal() {
      faults.clear()
      hooks.clear()
    },
  }
}

/** The same backend with `call` around every call. */
export function withCall({ store, denylist, lease, counter }: Backend, call: Call): Backend {
  return {
    store: {
      collection: (spec) => collectionWithCall(store.collection(spec), spec.name, call),
      prepare: (specs) => store.prepare(specs),
    },
    denylist: {
      put: (entries) => call('denylist.put', () => denylist.put(entries)),
      find: (ids) => call('denylist.find', () => denylist.find(ids)),
      sweep: (before, limit) => call('denylist.sweep', () => denylist.sweep(before, limit)),
    },
    lease: {
      read: (name) => call('lease.read', () => lease.read(name)),
      replace: (name, seen, next) => call('lease.replace', () => lease.replace(name, seen, next)),
    },
    counter: {
      hit: (key, windowMs, limit, now) =>
        call('counter.hit', () => counter.hit(key, windowMs, limit, now)),
      forgive: (key, hits) => call('counter.forgive', () => counter.forgive(key, hits)),
      sweep: (before, limit) => call('counter.sweep', () => counter.sweep(before, limit)),
    },
  }
}

function collectionWithCall<T extends Doc>(
  inner: Collection<T>,
  name: string,
  call: Call,
): Collection<T> {
  return {
    get: (id) => call(`${name}.get`, () => inner.get(id)),
    find: (equal, page) => call(`${name}.find`, () => inner.find(equal, page)),
    insert: (doc) => call(`${name}.insert`, () => inner.insert(doc)),
    update: (id, guard, set) => call(`${name}.update`, () => inner.update(id, guard, set)),
    take: (id, guard) => call(`${name}.take`, () => inner.take(id, guard)),
    due: (before, limit) => call(`${name}.due`, () => inner.due(before, limit)),
    sweep: (before, limit) => call(`${name}.sweep`, () => inner.sweep(before, limit)),
  }
}
