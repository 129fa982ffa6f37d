/**
 * The storage port: one small generic collection with guarded writes.
 *
 * There are no transactions, joins, upserts, increments or blind updates on purpose. Everything
 * that may happen only once is one document and one guarded write; a guard that did not hold
 * answers null and changes nothing. A call that cannot be carried out rejects: an adapter never
 * repeats a write whose answer was lost, and never turns a failure into "not found".
 */
export interface Doc {
  /**
   * Unique within its collection. Text without NUL and lone surrogates, ordered by code unit; of
   * ids with characters beyond U+D7FF a backend may order those by code point.
   */
  readonly id: string
  /** Epoch milliseconds from which the document is worthless and may be swept; null = never. */
  readonly expiresAt: number | null
}

export type Scalar = string | number | boolean | null

/** A value to equal, one of several values, or (numbers only) a bound. */
export type Test<V> =
  | V
  | { readonly in: readonly V[] }
  | (Extract<V, number> extends never ? never : { readonly gt: number } | { readonly lte: number })

/**
 * What must hold of the stored document, field by field, all of them (there is no OR).
 * `json` fields cannot be tested. null equals only null, and a bound never holds for null.
 */
export type Guard<T> = {
  readonly [K in keyof T as T[K] extends Scalar ? K : never]?: Test<T[K]>
}

/**
 * - `text`: well-formed UTF-16 without NUL
 * - `integer`: a safe integer
 * - `time`: epoch milliseconds of the years 1 to 9999
 * - `json`: any JSON value, opaque to the store, given back deep-equal and never shared
 */
export type FieldKind = 'text' | 'integer' | 'boolean' | 'time' | 'json'

export interface Field {
  readonly kind: FieldKind
  readonly nullable?: true
  /** What a document written before the field existed reads as. */
  readonly default?: unknown
}

export interface IndexSpec<T> {
  readonly on: readonly (keyof T & string)[]
  readonly unique?: true
}

export interface CollectionSpec<T extends Doc> {
  /** Lower-case words joined by underscores: `operator_users`. Tables and key prefixes use it as is. */
  readonly name: string
  /** Every field but `id` and `expiresAt`, which every document has. */
  readonly fields: { readonly [K in Exclude<keyof T, 'id' | 'expiresAt'>]-?: Field }
  /** `find` needs one of these. Fields of a unique index are never nullable. */
  readonly indexes: readonly IndexSpec<T>[]
  /**
   * - `never`: `expiresAt` is always null
   * - `fixed`: written once, at insert; no update sets it
   * - `sliding`: moved by most updates
   * - `due`: the time at which work falls due; never swept
   */
  readonly expires: 'never' | 'fixed' | 'sliding' | 'due'
}

/** A collection's description without its document type, for code that walks all of them. */
export interface AnyCollectionSpec {
  readonly name: string
  readonly fields: Readonly<Record<string, Field>>
  readonly indexes: readonly { readonly on: readonly string[]; readonly unique?: true }[]
  readonly expires: 'never' | 'fixed' | 'sliding' | 'due'
}

export interface Page {
  /** At most this many documents, 1 to 1,000. */
  readonly limit: number
  /** Documents strictly after this id (before it with `newestFirst`). It need not exist. */
  readonly after?: string
  /** Descending ids. Ids of this library grow with time (UUIDv7). */
  readonly newestFirst?: true
}

export interface Swept {
  readonly removed: number
  /** Documents still expired afterwards, counted up to 100,000. */
  readonly left: number
}

/**
 * One collection. Documents given in and out are copies; the caller may keep or freeze them.
 * A guard or set that is empty or holds `undefined`, an undeclared field, or a value that is not
 * of its field's kind makes the call reject with a `TypeError` before anything is written.
 */
export interface Collection<T extends Doc> {
  /**
   * The document, or null. Never hides the expired, never reads a stale replica: it returns what
   * the last acknowledged write wrote.
   */
  get(id: string): Promise<T | null>
  /**
   * Documents equal to `equal` in every field of exactly one declared index, by id in code-unit
   * order. Rejects with a `TypeError` when `equal` does not name the fields of one index.
   */
  find(equal: Partial<T>, page: Page): Promise<readonly T[]>
  /** True when stored. False, changing nothing, when the id or a unique index is taken. */
  insert(doc: T): Promise<boolean>
  /**
   * Compare-and-set. The new document; null when there is no such document or the guard did not
   * hold; 'taken' when a unique index refused. Of racers with one guard, one gets the document.
   */
  update(id: string, guard: Guard<T>, set: Partial<Omit<T, 'id'>>): Promise<T | null | 'taken'>
  /** Removes and returns the document while `guard` holds, else null. One racer receives it. */
  take(id: string, guard?: Guard<T>): Promise<T | null>
  /** Documents whose `expiresAt` is at or before `before`, earliest first, at most `limit`. */
  due(before: number, limit: number): Promise<readonly T[]>
  /**
   * Removes at most `limit` documents whose `expiresAt` is at or before `before`, re-checking each
   * as it goes, so that one being renewed survives. Rejects on a `due` or `never` collection.
   */
  sweep(before: number, limit: number): Promise<Swept>
}

export interface Store {
  /** Binds a collection; does no I/O and may be called any number of times. */
  collection<T extends Doc>(spec: CollectionSpec<T>): Collection<T>
  /**
   * Creates or brings up to date what the specs need. Idempotent, forward-only, and safe when
   * twenty replicas start at once.
   */
  prepare(specs: readonly AnyCollectionSpec[]): Promise<void>
}
