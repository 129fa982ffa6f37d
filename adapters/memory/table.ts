import type { Column } from '../../src/checks/check-value.js'
import type { Index, Row, Shape } from '../../src/checks/shape.js'

interface TableIndex extends Index {
  readonly buckets: IdBuckets
}

/**
 * The rows of one collection with their indexes. Every method is one synchronous step, which is
 * what makes the calls built on it atomic. Rows are flat and never changed in place.
 */
export class Table {
  readonly #rows = new Map<string, Row>()
  readonly #columns = new Map<string, Column>()
  readonly #indexes = new Map<string, TableIndex>()

  /**
   * Takes in what a spec declares beyond the ones seen before: rows gain new fields as a database
   * would add a column. Throws when a field comes back as another kind.
   */
  adopt(shape: Shape): void {
    const fresh = [...shape.columns.values()].filter((column) => this.#isNew(shape, column))
    for (const column of fresh) this.#columns.set(column.name, column)
    if (fresh.length > 0) {
      for (const [id, row] of this.#rows) this.#rows.set(id, this.#complete(row))
    }
    for (const index of shape.indexes) this.#adoptIndex(shape, index)
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  rows(): Iterable<Row> {
    return this.#rows.values()
  }

  /** Ids of the rows equal to `row` in the fields `on`, which are one declared index, sorted. */
  idsEqual(on: readonly string[], row: Row): readonly string[] {
    const index = this.#indexes.get(keyOf(on))
    return index?.buckets.sorted(tupleOf(index.on, row)) ?? []
  }

  /** Inserts or replaces. False, changing nothing, when another row has a unique value. */
  write(id: string, given: Row): boolean {
    const row = this.#complete(given)
    const old = this.#rows.get(id)
    const indexes = [...this.#indexes.values()]
    const refused = indexes.some(
      ({ on, unique, buckets }) => unique && buckets.holdsOther(tupleOf(on, row), id),
    )
    if (refused) return false
    for (const { on, buckets } of indexes) {
      if (old) buckets.remove(tupleOf(on, old), id)
      buckets.add(tupleOf(on, row), id)
    }
    this.#rows.set(id, row)
    return true
  }

  remove(id: string): void {
    const row = this.#rows.get(id)
    if (!row) return
    for (const { on, buckets } of this.#indexes.values()) buckets.remove(tupleOf(on, row), id)
    this.#rows.delete(id)
  }

  #isNew(shape: Shape, column: Column): boolean {
    const known = this.#columns.get(column.name)
    if (!known && this.#rows.size > 0 && column.default === undefined && !column.nullable) {
      throw new Error(`memory: "${column.name}", new in ${shape.name}, needs a default`)
    }
    if (known && (known.kind !== column.kind || known.nullable !== column.nullable)) {
      throw new Error(`memory: "${column.name}" of ${shape.name} was declared as another kind`)
    }
    return !known
  }

  /** Fills in the fields a writer of an older spec does not know. */
  #complete(row: Row): Row {
    const whole: Record<string, unknown> = { ...row }
    for (const { name, default: absent, kind } of this.#columns.values()) {
      if (whole[name] !== undefined) continue
      whole[name] = kind === 'json' ? JSON.stringify(absent ?? null) : (absent ?? null)
    }
    return whole
  }

  #adoptIndex(shape: Shape, { on, unique }: Index): void {
    const known = this.#indexes.get(keyOf(on))
    if (known && (known.unique || !unique)) return
    const buckets = idBuckets()
    for (const [id, row] of this.#rows) {
      const tuple = tupleOf(on, row)
      if (unique && buckets.holdsOther(tuple, id)) {
        throw new Error(`memory: rows of ${shape.name} are not unique by ${on.join()}`)
      }
      buckets.add(tuple, id)
    }
    this.#indexes.set(keyOf(on), { on, unique, buckets })
  }
}

function keyOf(on: readonly string[]): string {
  return [...on].sort().join()
}

/** JSON keeps apart what a plain join would mix up: null and "null", `a,b` and `a` beside `b`. */
function tupleOf(on: readonly string[], row: Row): string {
  return JSON.stringify(on.map((name) => row[name]))
}

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

function idBuckets(): IdBuckets {
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
