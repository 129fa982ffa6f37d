import type { Collection, Doc } from '../ports/store.js'

/** What the port takes in one call for many. */
export const mostGathered = 500

type Later = (run: () => void) => void

/**
 * The collection, but that calls of one turn of the event loop go to the store as one, where it has calls for many. Each
 * caller gets what its own call would have given: of writes to one id, the first alone is carried out. If the one call
 * fails, all of them fail. `unique` is the field that `find` is called with.
 */
export function gatheredCalls<T extends Doc>(
  collection: Collection<T>,
  later: Later,
  unique: keyof T & string = 'id',
): Collection<T> {
  const { many } = collection
  if (many === undefined) return collection
  const documentsBy = (field: keyof T & string) =>
    gathered(later, async (values: readonly string[]) => {
      const found = await many.find(field, [...new Set(values)])
      const byValue = new Map<unknown, T>(found.map((doc) => [doc[field], doc]))
      return values.map((value) => byValue.get(value) ?? null)
    })
  const byUnique = documentsBy(unique)
  const updates = new Map<string, (id: string) => Promise<T | null>>()
  return {
    ...collection,
    get: documentsBy('id'),
    insert: gathered(later, async (docs: readonly T[]) => {
      const firsts = [...new Map(docs.toReversed().map((doc) => [doc.id, doc])).values()]
      const answers = await many.insert(firsts)
      const stored = new Set(firsts.filter((_, at) => answers[at]))
      return docs.map((doc) => stored.has(doc))
    }),
    async find(equal, page) {
      const value = equal[unique]
      if (typeof value !== 'string' || page.limit !== 1) return collection.find(equal, page)
      const found = await byUnique(value)
      return found === null ? [] : [found]
    },
    update(id, guard, set) {
      const form = JSON.stringify([guard, set])
      const known = updates.get(form)
      const update =
        known ??
        gathered(later, async (ids: readonly string[]) => {
          updates.delete(form)
          const found = await many.update([...new Set(ids)], guard, set)
          const byId = new Map(found.map((doc) => [doc.id, doc]))
          return ids.map((one) => {
            const doc = byId.get(one) ?? null
            byId.delete(one)
            return doc
          })
        })
      updates.set(form, update)
      return update(id)
    },
  }
}

interface Waiting<A, R> {
  readonly given: A
  resolve(answer: R): void
  reject(error: unknown): void
}

function gathered<A, R>(
  later: Later,
  send: (given: readonly A[]) => Promise<readonly R[]>,
): (given: A) => Promise<R> {
  let waiting: Waiting<A, R>[] = []

  async function flush(): Promise<void> {
    const group = waiting
    waiting = []
    try {
      const answers = await send(group.map(({ given }) => given))
      for (const [at, answer] of answers.entries()) group[at]?.resolve(answer)
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  return (given) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) later(() => void flush())
      waiting.push({ given, resolve, reject })
    })
}
