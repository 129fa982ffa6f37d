/** Ids by the tuple of values they are indexed under. */
export interface IdBuckets {
  add(tuple: string, id: string): void
  remove(tuple: string, id: string): void
  /** Whether an id other than `id` is under the tuple. */
  holdsOther(tuple: string, id: string): boolean
  /** The ids under the tuple in code-unit order. Not to be kept: later writes may change it. */
  sorted(tuple: string): readonly string[]
}

interface Bucket {
  readonly ids: Set<string>
  /** Null when a write has passed since the ids were last sorted. */
  sorted: string[] | null
}

export function idBuckets(): IdBuckets {
  const buckets = new Map<string, Bucket>()
  return {
    add(tuple, id) {
      const bucket = buckets.get(tuple) ?? { ids: new Set(), sorted: null }
      bucket.ids.add(id)
      bucket.sorted = null
      buckets.set(tuple, bucket)
    },
    remove(tuple, id) {
      const bucket = buckets.get(tuple)
      if (!bucket?.ids.delete(id)) return
      bucket.sorted = null
      if (bucket.ids.size === 0) buckets.delete(tuple)
    },
    holdsOther(tuple, id) {
      const ids = buckets.get(tuple)?.ids
      return ids !== undefined && ids.size > (ids.has(id) ? 1 : 0)
    },
    sorted(tuple) {
      const bucket = buckets.get(tuple)
      if (!bucket) return []
      bucket.sorted ??= [...bucket.ids].sort()
      return bucket.sorted
    },
  }
}
