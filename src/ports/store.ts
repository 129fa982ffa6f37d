import type { Inspection } from './inspection.js'

/**
 * The storage port is one small generic collection with guarded writes.
 *
 * It has no transactions, joins, upserts, increments or blind updates on purpose. Everything that
 * may happen only once is one document and one guarded write. A write whose guard does not hold
 * answers null and changes nothing. A call that cannot be carried out rejects: an adapter never
 * repeats a write whose answer was lost, and never reports a failure as "not found".
 */
export interface Doc {
  /**
   * Unique within its collection. Text of at most 255 UTF-16 code units, without NUL and lone surrogates,
   * ordered by code unit. A backend may order ids with characters beyond U+D7FF by code point.
   */
  readonly id: string
  /** Epoch milliseconds at which the document becomes useless and may be swept; null = never. */
  readonly expiresAt: number | null
}

/** A value that a guard can test. */
export type Scalar = string | number | boolean | null

/** A value to equal, several of which one must equal, or (numbers only) a bound. */
export type GuardTest<V> =
  | V
  | { readonly in: readonly V[] }
  | (Extract<V, number> extends never ? never : { readonly gt: number } | { readonly lte: number })

/**
 * The condition of a write: a test for each named field, all of which must hold (there is no OR).
 * `json` fields cannot be tested. null equals only null, and no bound holds for null.
 */
export type Guard<T> = {
  readonly [K in keyof T as T[K] extends Scalar ? K : never]?: GuardTest<T[K]>
}

/**
 * - `text`: well-formed UTF-16 without NUL, of at most 255 code units where an index names the field and of at
 *   most 65,535 elsewhere. Under UTF-8 these are at most 765 and 196,605 bytes
 * - `integer`: a safe integer
 * - `time`: epoch milliseconds of the years 1 to 9999
 * - `json`: any JSON value, opaque to the store, returned deep-equal and never shared
 */
export type FieldKind = 'text' | 'integer' | 'boolean' | 'time' | 'json'

/** The declaration of a field. */
export interface FieldSpec {
  readonly kind: FieldKind
  readonly nullable?: true
  /** The value that is read from documents written before the field existed. */
  readonly default?: unknown
}

/** An index over fields, in this order. With `unique`, no two documents have equal values. */
export interface IndexSpec<T> {
  readonly on: readonly (keyof T & string)[]
  readonly unique?: true
}

/** The description of a collection: its name, fields, indexes and expiry. */
export interface CollectionSpec<T extends Doc> {
  /** Lower-case words joined by underscores: `operator_users`. Tables and key prefixes use it as is. */
  readonly name: string
  /** Every field except `id` and `expiresAt`, which every document has. */
  readonly fields: { readonly [K in Exclude<keyof T, 'id' | 'expiresAt'>]-?: FieldSpec }
  /** `find` uses exactly one of these. Fields of a unique index are never nullable. */
  readonly indexes: readonly IndexSpec<T>[]
  /**
   * Indexes that earlier versions declared and that no call needs any more. `prepare` may drop them; a store that
   * keeps them answers the same. None is among `indexes`. Default: none.
   */
  readonly retiredIndexes?: readonly { readonly on: readonly string[]; readonly unique?: true }[]
  /**
   * - `never`: `expiresAt` is always null
   * - `fixed`: `insert` writes it, no update changes it
   * - `sliding`: most updates move it
   * - `due`: the time at which work falls due; such documents are never swept
   */
  readonly expires: 'never' | 'fixed' | 'sliding' | 'due'
}

/** A `CollectionSpec` without its document type, for code that walks all collections. */
export interface AnyCollectionSpec {
  readonly name: string
  readonly fields: Readonly<Record<string, FieldSpec>>
  readonly indexes: readonly { readonly on: readonly string[]; readonly unique?: true }[]
  readonly retiredIndexes?: readonly { readonly on: readonly string[]; readonly unique?: true }[]
  readonly expires: 'never' | 'fixed' | 'sliding' | 'due'
}

/** The part of a result to return. */
export interface Page {
  /** The most documents to return, 1 to 1,000. */
  readonly limit: number
  /** Returns documents strictly after this id (before it with `newestFirst`). It need not exist. */
  readonly after?: string
  /** Orders by descending id. The library's ids grow with time (UUIDv7, RFC 9562 §5.7). */
  readonly newestFirst?: true
}

/** The result of a sweep. */
export interface SweepResult {
  readonly removed: number
  /** Expired documents that are left, counted up to 100,000. */
  readonly left: number
}

/**
 * One collection. Documents passed in and returned are copies; the caller may keep or freeze them.
 * The call rejects with a `TypeError`, before anything is written, when a guard or set is empty or
 * holds `undefined`, an undeclared field, or a value that is not of its field's kind.
 */
export interface Collection<T extends Doc> {
  /**
   * The document, or null when none has this id. Returns what the last acknowledged write wrote,
   * never the state of a stale replica. Expired documents are returned too.
   */
  get(id: string): Promise<T | null>
  /**
   * Documents that match `equal`, ordered by id in code-unit order. Where documents go away during the
   * call, the page may be shorter than `limit`, by those alone: only an empty page is the end. Rejects with
   * a `TypeError` unless `equal` names exactly the fields of one declared index.
   */
  find(equal: Partial<T>, page: Page): Promise<readonly T[]>
  /** True when stored. False when the id or a unique value is taken; then nothing changes. */
  insert(doc: T): Promise<boolean>
  /**
   * Compare-and-set. The new document; null when there is no such document or the guard did not
   * hold. A refused unique value answers null and changes nothing. If calls race with one guard,
   * one gets the document.
   */
  update(id: string, guard: Guard<T>, set: Partial<Omit<T, 'id'>>): Promise<T | null>
  /**
   * Removes and returns the document if `guard` holds, else null. If calls run in parallel, exactly one
   * receives it.
   */
  take(id: string, guard?: Guard<T>): Promise<T | null>
  /** At most `limit` documents with `expiresAt <= before`, earliest first. */
  due(before: number, limit: number): Promise<readonly T[]>
  /**
   * Removes at most `limit` documents with `expiresAt <= before`. Checks each again as it removes it,
   * so a document that is renewed meanwhile survives. Rejects on a `due` or `never` collection.
   */
  sweep(before: number, limit: number): Promise<SweepResult>
  /** Calls for many documents at once, for imports. Optional: without it, each goes alone. */
  readonly many?: ManyCalls<T>
}

/**
 * Each does for 1 to 500 documents what the call of the same name does for one, in any order. They need not be carried
 * out together: of a call that rejects, some may be there, each of them whole.
 */
export interface ManyCalls<T extends Doc> {
  /** Those whose `field` is one of these. It is `id`, or has a unique index of its own. */
  find(field: keyof T & string, values: readonly string[]): Promise<readonly T[]>
  /** Whether each was stored, in the order of `docs`. Their ids differ; other unique values need not. */
  insert(docs: readonly T[]): Promise<readonly boolean[]>
  /** Those for which the guard held, as they are then. No field of a unique index is set. */
  update(
    ids: readonly string[],
    guard: Guard<T>,
    set: Partial<Omit<T, 'id'>>,
  ): Promise<readonly T[]>
}

/** One step that `prepare` would take. */
export interface MigrationStep {
  /** Such as `client_users/index/email`. */
  readonly name: string
  /** What is sent to the database, for a person to read; null where that is no statement. */
  readonly statement: string | null
  /**
   * About how many documents are there whose writes wait until the step is done: 0 where no write waits, null where
   * the store cannot tell.
   */
  readonly blocks: number | null
}

/** Documents that are about to be removed: those of a collection whose `field` is `value`. */
export interface RemovedDocuments {
  readonly collection: string
  readonly field: string
  readonly value: string
}

/** A database's collections. */
export interface Store {
  /** Binds a collection. Does no I/O; may be called any number of times. */
  collection<T extends Doc>(spec: CollectionSpec<T>): Collection<T>
  /**
   * Creates or updates whatever the specs need in the database. Idempotent, forward-only, and safe
   * when twenty replicas start at once.
   */
  prepare(specs: readonly AnyCollectionSpec[]): Promise<void>
  /**
   * The steps that `prepare` would take now, in their order; none where all is there. Changes nothing. Rejects where
   * `prepare` would refuse what it finds. Optional: without it, `postern migrate` shows no plan.
   */
  plan?(specs: readonly AnyCollectionSpec[]): Promise<readonly MigrationStep[]>
  /**
   * What the databases of these collections tell of themselves, one entry each. Changes nothing. Optional: without it,
   * `auth.diagnose()` asks them nothing.
   */
  inspect?(specs: readonly AnyCollectionSpec[]): Promise<readonly Inspection[]>
  /**
   * What of the host's would refuse one of these removals, by the names in the database's catalogue, such as
   * `shop.orders (orders_user_fkey)`. Changes nothing. Optional: without it, a deletion meets the refusal half-way.
   */
  heldBy?(removals: readonly RemovedDocuments[]): Promise<readonly string[]>
}

/** A collection that each surface has, but for its name, which the record of collections gives it. */
export interface SurfaceSpec<T extends Doc> extends Omit<CollectionSpec<T>, 'name'> {}
