import { checkExpiry, checkId, checkPage, checkSweep } from '../checks/check-call.js'
import {
  checkAmong,
  checkDocument,
  checkEqual,
  checkGuard,
  checkMany,
  checkSet,
} from '../checks/check-write.js'
import { type Shape, shapeOf } from '../checks/shape.js'
import type { Collection, Doc, ManyCalls, Store } from '../ports/store.js'

/**
 * Wraps the store of your own adapter and checks the arguments of every call. A call that the port
 * forbids rejects with a `TypeError` before `store` is called, so `store` may rely on this:
 *
 * - names of collections and fields are plain words, and indexes name declared fields
 * - ids are text that a database can hold, documents are complete, values are of their field's kind
 * - guards and sets are not empty and hold nothing undeclared and no `undefined`; `json` is never tested
 * - `find` names the fields of one index, pages are 1 to 1,000, only collections that expire are swept
 *
 * The promises of the database itself (guards, uniqueness, order, races) are left to `store`.
 *
 * @example
 * import { type Backend, checkedStore } from 'postern'
 *
 * export const withChecks = (own: Backend): Backend => ({ ...own, store: checkedStore(own.store) })
 */
export function checkedStore(store: Store): Store {
  return {
    collection: (spec) => checkedCollection(shapeOf(spec), store.collection(spec)),
    async prepare(specs) {
      for (const spec of specs) shapeOf(spec)
      await store.prepare(specs)
    },
    ...(store.plan && {
      async plan(specs) {
        for (const spec of specs) shapeOf(spec)
        return store.plan?.(specs) ?? []
      },
    }),
    ...(store.inspect && {
      async inspect(specs) {
        for (const spec of specs) shapeOf(spec)
        return store.inspect?.(specs) ?? []
      },
    }),
    ...(store.heldBy && { heldBy: async (removals) => store.heldBy?.(removals) ?? [] }),
  }
}

function checkedCollection<T extends Doc>(shape: Shape, inner: Collection<T>): Collection<T> {
  return {
    async get(id) {
      checkId(id, `${shape.name}.get`)
      return inner.get(id)
    },
    async find(equal, page) {
      checkEqual(shape, equal)
      checkPage(shape, page)
      return inner.find(equal, page)
    },
    async insert(doc) {
      checkDocument(shape, doc)
      return inner.insert(doc)
    },
    async update(id, guard, set) {
      checkId(id, `${shape.name}.update`)
      checkGuard(shape, guard)
      checkSet(shape, set)
      return inner.update(id, guard, set)
    },
    async take(id, guard) {
      checkId(id, `${shape.name}.take`)
      if (guard !== undefined) checkGuard(shape, guard)
      return inner.take(id, guard)
    },
    async due(before, limit) {
      checkExpiry(`${shape.name}.due`, before, limit)
      return inner.due(before, limit)
    },
    async sweep(before, limit) {
      checkSweep(shape, before, limit)
      return inner.sweep(before, limit)
    },
    ...(inner.many && { many: checkedMany(shape, inner.many) }),
  }
}

function checkedMany<T extends Doc>(shape: Shape, inner: ManyCalls<T>): ManyCalls<T> {
  return {
    async find(field, values) {
      checkAmong(shape, field, values)
      return inner.find(field, values)
    },
    async insert(docs) {
      checkMany(shape, docs)
      for (const doc of docs) checkDocument(shape, doc)
      return inner.insert(docs)
    },
    async update(ids, guard, set) {
      checkAmong(shape, 'id', ids)
      checkGuard(shape, guard)
      checkSet(shape, set)
      return inner.update(ids, guard, set)
    },
  }
}
