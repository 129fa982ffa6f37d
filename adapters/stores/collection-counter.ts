import type { AddCall } from '../../src/checks/check-call.js'
import type { Counter, CounterResult } from '../../src/ports/backend.js'
import type { Collection, CollectionSpec, Doc } from '../../src/ports/store.js'
import { counterOf } from '../shared/checked-calls.js'

/** The document of a window, under its key; it expires when the window ends. */
export interface CounterDoc extends Doc {
  readonly hits: number
}

/** The collection of `collectionCounter`, to prepare with the others. */
export const counterSpec: CollectionSpec<CounterDoc> = {
  name: 'postern_counters',
  fields: { hits: { kind: 'integer' } },
  indexes: [],
  expires: 'sliding',
}

/** Each lost race is another caller's hit. */
const attempts = 200

/**
 * A counter on any collection: a read and a guarded write for each hit, repeated where another caller was faster. Under
 * many hits of one key that is slow: where your database counts in one step, write your own. Rejects where the
 * collection does, and after 200 lost races, where the hit was not counted.
 */
export function collectionCounter(collection: Collection<CounterDoc>): Counter {
  /** Lets `change` look at the newest document until its write is the one that counts. */
  async function settle<Result>(
    key: string,
    change: (seen: CounterDoc | null) => Promise<Result | undefined>,
  ): Promise<Result> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const result = await change(await collection.get(key))
      if (result !== undefined) return result
    }
    throw new Error('counter: other callers were always faster')
  }

  /** The state that a document is in, whole: what was counted and when that ends. */
  const write = ({ id, hits, expiresAt }: CounterDoc, set: Partial<Omit<CounterDoc, 'id'>>) =>
    collection.update(id, { hits, expiresAt }, set)

  async function counted(seen: CounterDoc | null, call: AddCall, resetsAt: number) {
    const { result, set } = step(seen, call, resetsAt)
    if (set === null) return result
    const [key] = call
    const isWritten =
      seen === null
        ? await collection.insert({ id: key, ...set })
        : (await write(seen, set)) !== null
    return isWritten ? result : undefined
  }

  const count = (call: AddCall, resetsAt: number): Promise<CounterResult> =>
    settle(call[0], (seen) => counted(seen, call, resetsAt))

  return counterOf({
    count,
    forget: (key) => collection.take(key),
    handBack: (key, some) =>
      settle(key, async (seen) => {
        if (seen === null) return true
        const hits = Math.max(seen.hits - some, 0)
        return (await write(seen, { hits })) === null ? undefined : true
      }),
    sweep: async (before, limit) => (await collection.sweep(before, limit)).removed,
  })
}

/** What the hits make of a window, and what to write for it; nothing where the window is full. */
function step(
  seen: CounterDoc | null,
  [, , limit, now, more]: AddCall,
  resetsAt: number,
): { readonly result: CounterResult; readonly set: Omit<CounterDoc, 'id'> | null } {
  const ends = seen?.expiresAt ?? 0
  const isOpen = seen !== null && ends > now
  const [before, until] = isOpen ? [seen.hits, ends] : [0, resetsAt]
  if (isOpen && before >= limit) {
    return { result: { allowed: false, count: before, resetsAt: until }, set: null }
  }
  const hits = Math.min(before + more, limit)
  const result = { allowed: before + more <= limit, count: hits, resetsAt: until }
  return { result, set: { hits, expiresAt: until } }
}
