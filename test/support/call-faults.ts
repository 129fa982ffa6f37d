import { setImmediate as turn } from 'node:timers/promises'
import type { Backend } from '../../src/ports/backend.js'
import type { Collection, Doc } from '../../src/ports/store.js'

/**
 * What may befall one call of the backend:
 * - `before`: it does nothing and rejects
 * - `after`: it takes effect, and rejects because its answer was lost
 * - `hang`: it does nothing and never answers
 * - `silent`: it takes effect and never answers
 * - `late`: it never answers, and takes effect once the caller has given up
 * - `twice`: a driver sends it again by itself, and the second answer is the one that comes
 * - `stale`: a read gives what was stored before the last write
 * - `down`: it takes effect, its answer is lost, and so is every call after it
 */
export type Fault = 'before' | 'after' | 'hang' | 'silent' | 'late' | 'twice' | 'stale' | 'down'

/** A call as it was made. */
export interface BackendCall {
  /** `client_users.update`, `denylist.put`. */
  readonly name: string
  /** `client_users.update #2`: the second call of this name. What runs side by side does not mix
   * these up, as it would the order of all calls. */
  readonly key: string
  readonly kind: 'read' | 'write'
  /** `src/domain/refresh.ts:162:28`: where the library made it; empty when that is not known. */
  readonly site: string
  /** Whether there is something older for a stale read to give. */
  readonly canBeStale: boolean
}

export interface Window {
  /** All calls since `begin`, in the order they began. */
  readonly calls: readonly BackendCall[]
  /** How many of the planned faults have struck. */
  readonly struck: number
}

export interface CallFaults {
  readonly backend: Backend
  /**
   * Counts calls anew; the calls whose keys the plan names meet its faults.
   * `onHang` is told of each that will never answer.
   */
  begin(plan?: ReadonlyMap<string, Fault>, onHang?: () => void): Window
  /** Resolves when no call is being carried out; one that hangs is not. */
  idle(): Promise<void>
  /** The backend is well again; what was held back happens first. */
  heal(): Promise<void>
}

/** In every injected message, and never to be seen by a caller. */
export const leakMarker = 'db-primary.internal:5432'

/** Calls of the library's own background work, which belong to no request. */
const background = /^lease\.|\.sweep$|\.due$/

const writes = /\.(insert|update|take|put|hit|forgive)$/

interface OpenWindow {
  readonly calls: BackendCall[]
  readonly plan: ReadonlyMap<string, Fault>
  readonly onHang: () => void
  struck: number
}

type Older<T> = (now: T) => T | null

interface Performed<T> {
  readonly name: string
  readonly work: () => Promise<T>
  readonly older: Older<T>
}

/** Performs a call, or lets happen to it what was planned. */
type Perform = <T>(name: string, work: () => Promise<T>, older?: Older<T>) => Promise<T>

/** A backend whose calls are counted and can be made to fail one by one. */
export function callFaults(inner: Backend): CallFaults {
  let open: OpenWindow | null = null
  let heldBack: (() => Promise<unknown>)[] = []
  let isDown = false
  let running = 0

  /** The call that never answers: before it does anything, or after it took effect. */
  function swallow<T>(window: OpenWindow): Promise<T> {
    window.onHang()
    return new Promise<T>(() => {})
  }

  async function strike<T>(
    window: OpenWindow,
    fault: Fault,
    { name, work, older }: Performed<T>,
  ): Promise<T> {
    const broken = new Error(`${name}: the connection to ${leakMarker} broke`)
    window.struck += 1
    if (fault === 'before') throw broken
    if (fault === 'late') heldBack.push(work)
    if (fault === 'late' || fault === 'hang') return swallow(window)
    isDown = fault === 'down'
    const result = await work()
    switch (fault) {
      case 'after':
      case 'down':
        throw broken
      case 'silent':
        return swallow(window)
      case 'stale':
        return older(result) ?? result
      case 'twice':
        return work()
    }
  }

  const perform: Perform = async (name, given, older = () => null) => {
    const work: typeof given = async () => {
      running += 1
      try {
        return await given()
      } finally {
        running -= 1
      }
    }
    const window = open
    if (window === null || background.test(name)) return work()
    const number = window.calls.length
    const nth = window.calls.filter((call) => call.name === name).length + 1
    const call = callOf(name, nth)
    window.calls.push(call)
    if (isDown) throw new Error(`${name}: no connection to ${leakMarker}`)
    const fault = window.plan.get(call.key)
    if (fault !== undefined) return strike(window, fault, { name, work, older })
    const result = await work()
    if (call.kind === 'read' && older(result) !== null) window.calls[number] = stalable(call)
    return result
  }

  return {
    backend: performing(inner, perform),
    begin(plan = new Map(), onHang = () => {}) {
      open = { calls: [], plan, onHang, struck: 0 }
      return open
    },
    async idle() {
      while (running > 0) await turn()
    },
    async heal() {
      open = null
      isDown = false
      const held = heldBack
      heldBack = []
      // Its caller is gone; what becomes of a write that comes too late is nobody's to hear.
      await Promise.all(held.map((work) => work().catch(() => {})))
    },
  }
}

/** The call under way; its place in the library is read off the stack it is made on. */
function callOf(name: string, nth: number): BackendCall {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 40
  const here = new Error('here')
  Error.stackTraceLimit = stackTraceLimit
  return {
    name,
    key: `${name} #${nth}`,
    kind: writes.test(name) ? 'write' : 'read',
    canBeStale: false,
    // Only on demand: to write out a stack takes longer than the call.
    get site() {
      const frames = here.stack?.matchAll(/src\/domain\/(?!guard-backend)[a-z-]+\.ts:\d+:\d+/g)
      return [...(frames ?? [])][0]?.[0] ?? ''
    },
  }
}

function stalable(call: BackendCall): BackendCall {
  const { name, key, kind } = call
  return {
    ...{ name, key, kind, canBeStale: true },
    get site() {
      return call.site
    },
  }
}

function performing({ store, denylist, lease, counter }: Backend, perform: Perform): Backend {
  return {
    store: {
      collection: (spec) => performingCollection(store.collection(spec), spec.name, perform),
      prepare: (specs) => store.prepare(specs),
    },
    denylist: {
      put: (entries) => perform('denylist.put', () => denylist.put(entries)),
      find: (ids) =>
        perform(
          'denylist.find',
          () => denylist.find(ids),
          // An entry has no version before the one that lists it.
          (found) => (found.length > 0 ? [] : null),
        ),
      sweep: (before, limit) => perform('denylist.sweep', () => denylist.sweep(before, limit)),
    },
    lease: {
      read: (name) => perform('lease.read', () => lease.read(name)),
      replace: (name, seen, next) =>
        perform('lease.replace', () => lease.replace(name, seen, next)),
    },
    counter: {
      hit: (key, windowMs, limit, now) =>
        perform('counter.hit', () => counter.hit(key, windowMs, limit, now)),
      forgive: (key, hits) => perform('counter.forgive', () => counter.forgive(key, hits)),
      sweep: (before, limit) => perform('counter.sweep', () => counter.sweep(before, limit)),
    },
  }
}

function performingCollection<T extends Doc>(
  inner: Collection<T>,
  name: string,
  perform: Perform,
): Collection<T> {
  /** Each document as it was before its last write, for stale reads. */
  const versions = new Map<string, T>()

  /** Remembers what a write replaced. */
  async function replacing<R>(id: string, write: () => Promise<R>): Promise<R> {
    const before = await inner.get(id)
    const result = await write()
    if (before !== null && result !== null && result !== 'taken') versions.set(id, before)
    return result
  }

  return {
    get: (id) =>
      perform(
        `${name}.get`,
        () => inner.get(id),
        () => versions.get(id) ?? null,
      ),
    find: (equal, page) =>
      perform(
        `${name}.find`,
        () => inner.find(equal, page),
        (found) =>
          found.some(({ id }) => versions.has(id))
            ? found.map((doc) => versions.get(doc.id) ?? doc)
            : null,
      ),
    insert: (doc) => perform(`${name}.insert`, () => inner.insert(doc)),
    update: (id, guard, set) =>
      perform(`${name}.update`, () => replacing(id, () => inner.update(id, guard, set))),
    take: (id, guard) => perform(`${name}.take`, () => replacing(id, () => inner.take(id, guard))),
    due: (before, limit) => perform(`${name}.due`, () => inner.due(before, limit)),
    sweep: (before, limit) => perform(`${name}.sweep`, () => inner.sweep(before, limit)),
  }
}
