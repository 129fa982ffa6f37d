import { checkExpiry, checkId, checkPage, checkSweep } from '../checks/check-call.js'
import { checkDocument, checkEqual, checkGuard, checkSet } from '../checks/check-write.js'
import { type Shape, shapeOf } from '../checks/shape.js'
import type { Collection, Doc, Store } from '../ports/store.js'

/**
 * A store that keeps the argument half of the port's promises, around one that does not look at
 * its arguments: for adapters of your own. What must be refused rejects with a `TypeError` before
 * `store` is called, so `store` may rely on this:
 *
 * - names of collections and fields are plain words, and indexes name declared fields
 * - ids are text a database can hold, documents are whole, values are of their field's kind
 * - guards and sets hold something, nothing undeclared and no `undefined`; `json` is never tested
 * - `find` names the fields of one index, pages are 1 to 1,000, only what expires is swept
 *
 * What the database has to promise (guards, uniqueness, order, races) is left to `store`.
 *
 * @example
 * return { store: checkedStore(myStore(client)), denylist, lease, counter }
 */
export function checkedStore(store: Store): Store {
  return {
    collection: (spec) => checkedCollection(shapeOf(spec), store.collection(spec)),
    async prepare(specs) {
      for (const spec of specs) shapeOf(spec)
      await store.prepare(specs)
    },
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
  }
}
