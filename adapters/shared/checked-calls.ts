// What the ports of every database do alike: they check the arguments before any statement is sent.
import {
  type AddCall,
  checkAdd,
  checkExpiry,
  checkForgive,
  checkHit,
  checkId,
  checkPage,
  checkSweep,
} from '../../src/checks/check-call.js'
import { isText } from '../../src/checks/check-value.js'
import {
  type Condition,
  checkAmong,
  checkDocument,
  checkEqual,
  checkGuard,
  checkMany,
  checkSet,
} from '../../src/checks/check-write.js'
import type { Row, Shape } from '../../src/checks/shape.js'
import type { Counter, CounterResult, Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type {
  Collection,
  CollectionSpec,
  Doc,
  ManyCalls,
  Page,
  SweepResult,
} from '../../src/ports/store.js'
import { entriesToPut } from './denylist-entries.js'

/** What a database does for a collection. A row that it gives has every field of the shape. */
interface Rows {
  get(id: string): Promise<Row | null>
  /** `equal` has the fields of exactly one index, each with the value of its condition. */
  find(conditions: readonly Condition[], page: Page, equal: Row): Promise<readonly Row[]>
  insert(row: Row, id: string): Promise<boolean>
  update(id: string, conditions: readonly Condition[], changes: Row): Promise<Row | null>
  take(id: string, conditions: readonly Condition[]): Promise<Row | null>
  due(before: number, limit: number): Promise<readonly Row[]>
  sweep(before: number, limit: number): Promise<SweepResult>
  readonly many?: ManyRows
}

/** What it does for many at once. Of the conditions, the first one names them. */
interface ManyRows {
  find(conditions: readonly Condition[]): Promise<readonly Row[]>
  /** The answers in the order of the rows, whose ids differ. */
  insert(rows: readonly Row[]): Promise<readonly boolean[]>
  update(conditions: readonly Condition[], changes: Row): Promise<readonly Row[]>
}

export function collectionOf<T extends Doc>(shape: Shape, rows: Rows): Collection<T> {
  // The columns were declared from T's own fields, so a whole row is a T.
  const documentOf = (row: Row): T => row as T
  const orNull = (row: Row | null): T | null => row && documentOf(row)
  return {
    async get(id) {
      checkId(id, `${shape.name}.get`)
      return orNull(await rows.get(id))
    },
    async find(equal, page) {
      const conditions = checkEqual(shape, equal)
      checkPage(shape, page)
      return (await rows.find(conditions, page, { ...equal })).map(documentOf)
    },
    async insert(doc) {
      return rows.insert(checkDocument(shape, doc), doc.id)
    },
    async update(id, guard, set) {
      checkId(id, `${shape.name}.update`)
      return orNull(await rows.update(id, checkGuard(shape, guard), checkSet(shape, set)))
    },
    async take(id, guard) {
      checkId(id, `${shape.name}.take`)
      const conditions = guard === undefined ? [] : checkGuard(shape, guard)
      return orNull(await rows.take(id, conditions))
    },
    async due(before, limit) {
      checkExpiry(`${shape.name}.due`, before, limit)
      if (shape.expires === 'never') return []
      return (await rows.due(before, limit)).map(documentOf)
    },
    async sweep(before, limit) {
      checkSweep(shape, before, limit)
      return rows.sweep(before, limit)
    },
    ...(rows.many && { many: manyOf<T>(shape, rows.many) }),
  }
}

function manyOf<T extends Doc>(shape: Shape, rows: ManyRows): ManyCalls<T> {
  const documents = (found: readonly Row[]) => found.map((row) => row as T)
  return {
    async find(field, values) {
      return documents(await rows.find([checkAmong(shape, field, values)]))
    },
    async insert(docs) {
      checkMany(shape, docs)
      return rows.insert(docs.map((doc) => checkDocument(shape, doc)))
    },
    async update(ids, guard, set) {
      const conditions = [checkAmong(shape, 'id', ids), ...checkGuard(shape, guard)]
      return documents(await rows.update(conditions, checkSet(shape, set)))
    },
  }
}

/** What a database does for a counter. */
interface Counting {
  /** `resetsAt` is when a window ends that these hits start. */
  count(call: AddCall, resetsAt: number): Promise<CounterResult>
  forget(key: string): Promise<unknown>
  handBack(key: string, hits: number): Promise<unknown>
  sweep(before: number, limit: number): Promise<number>
}

export function counterOf({ count, forget, handBack, sweep }: Counting): Counter {
  return {
    hit: async (...call) => count([...call, 1], checkHit(...call)),
    add: async (...call) => count(call, checkAdd(...call)),
    async forgive(key, hits) {
      checkForgive(key, hits)
      await (hits === undefined ? forget(key) : handBack(key, hits))
    },
    async sweep(before, limit) {
      checkExpiry('counter.sweep', before, limit)
      return sweep(before, limit)
    },
  }
}

interface DenylistDoc extends Doc {
  readonly reason: string
}

export const denylistSpec: CollectionSpec<DenylistDoc> = {
  name: 'postern_denylist',
  fields: { reason: { kind: 'text' } },
  indexes: [],
  expires: 'fixed',
}

/** What a database does for a denylist. It is never given nothing, nor one id twice. */
interface Listing {
  put(entries: readonly DenylistEntry[]): Promise<void>
  /** The fields of the entries that are there, each under its name. */
  find(ids: readonly string[]): Promise<readonly Row[]>
  sweep(before: number, limit: number): Promise<number>
}

export function denylistOf({ put, find, sweep }: Listing): Denylist {
  return {
    async put(given) {
      const entries = entriesToPut(given)
      if (entries.length > 0) await put(entries)
    },
    async find(ids) {
      if (!ids.every(isText)) throw new TypeError('denylist.find: an id is text without NUL')
      const wanted = [...new Set(ids)]
      return wanted.length === 0 ? [] : (await find(wanted)).map(entryOf)
    },
    async sweep(before, limit) {
      checkExpiry('denylist.sweep', before, limit)
      return sweep(before, limit)
    },
  }
}

function entryOf({ id, reason, expiresAt }: Row): DenylistEntry {
  return {
    id: String(id),
    reason: reason === 'max_age' ? 'max_age' : 'revoked',
    expiresAt: Number(expiresAt),
  }
}
