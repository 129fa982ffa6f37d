import { TimeoutError } from '../errors/index.js'
import type { Clock } from '../ports/host.js'

/** Work that is begun before it is known to be needed: its failure counts where it is awaited, and nowhere else. */
export function startEarly<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  return work
}

/** What came of work that was waited for together with other work; throws what it rejected with. */
export function unwrapSettled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason
  return result.value
}

/** Waits for all, and then rejects with the first failure: one that fails keeps back no other. */
export async function allTried<T>(work: Iterable<Promise<T>>): Promise<readonly T[]> {
  const outcomes = await Promise.allSettled(work)
  return outcomes.map(unwrapSettled)
}

/** Resolves as `answer` does; rejects with a `TimeoutError` after `ms` milliseconds without one. */
export async function withTimeout<T>(answer: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let cancel = (): void => {}
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(ms, () => reject(new TimeoutError(`no answer within ${ms} ms`)))
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    cancel()
  }
}

/** What `make` gives, made at the first call and then the same for all. After a call that threw, the next makes it. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Gives what the first call of `load` gave; after a failure, the next call loads again. */
export function onceLoaded<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | null = null
  return () => {
    if (loading === null) {
      const mine = load()
      loading = mine
      mine.catch(() => {
        loading = null
      })
    }
    return loading
  }
}

/** What came of work, and whether it was begun for another call that is answered by it as well. */
export interface Shared<T> {
  readonly value: T
  readonly isShared: boolean
}

/**
 * While work of one name is running, later calls share it. If it fails, only the call that began it fails: the others
 * begin the work again.
 */
export function createSharedWork<T>(): (
  name: string,
  work: () => Promise<T>,
) => Promise<Shared<T>> {
  const underWay = new Map<string, Promise<T>>()
  return async (name, work) => {
    for (let other = underWay.get(name); other !== undefined; other = underWay.get(name)) {
      const ended = await other.then(
        (value) => ({ value, isShared: true }),
        () => null,
      )
      if (ended !== null) return ended
    }
    const mine = work()
    underWay.set(name, mine)
    try {
      return { value: await mine, isShared: false }
    } finally {
      underWay.delete(name)
    }
  }
}

/** The items in arrays of at most `size`, the last one shorter, each read when it is asked for. */
export async function* batchesOf<T>(
  items: AsyncIterable<T>,
  size: number,
): AsyncGenerator<readonly T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Pieces of work beside each other, and how often in one call. */
const atOnce = 20
const rounds = 25

/**
 * Works off what is due, a bounded part of it: call it again where there is `more`. `one` has to see to
 * it that its item is due no more at once. An item that fails keeps back no other; the call rejects at
 * its end, and at once where everything fails.
 */
export async function workOff<T>(
  due: (limit: number) => Promise<readonly T[]>,
  one: (item: T) => Promise<void>,
): Promise<'more' | 'done'> {
  const failures: unknown[] = []
  let isDone = false
  for (let round = 0; round < rounds && !isDone; round += 1) {
    const items = await due(atOnce)
    const outcomes = await Promise.allSettled(items.map(one))
    const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    failures.push(...reasons)
    isDone = reasons.length === items.length
  }
  if (failures.length > 0) throw failures[0]
  return isDone ? 'done' : 'more'
}
