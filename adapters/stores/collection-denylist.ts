import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import type { Collection, CollectionSpec, Doc } from '../../src/ports/store.js'
import { denylistOf } from '../shared/checked-calls.js'

/** The document of an entry, under its id. */
export interface DenylistDoc extends Doc {
  readonly reason: string
}

/** The collection of `collectionDenylist`, to prepare with the others. */
export const denylistSpec: CollectionSpec<DenylistDoc> = {
  name: 'postern_denylist',
  fields: { reason: { kind: 'text' } },
  indexes: [],
  expires: 'sliding',
}

/** A document that is there can lose a sweep and win another insert only so often. */
const attempts = 20

/**
 * A denylist on any collection: a document for each entry, whose expiry moves later by a guarded write and never
 * earlier. A `find` is a read for each id, and so is a `put`, with a write: where your database takes many at once, write
 * your own. Rejects where the collection does.
 */
export function collectionDenylist(collection: Collection<DenylistDoc>): Denylist {
  async function putOne({ id, reason, expiresAt }: DenylistEntry): Promise<void> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      if (await collection.insert({ id, reason, expiresAt })) return
      if ((await collection.update(id, { expiresAt: { lte: expiresAt } }, { expiresAt })) !== null)
        return
      // A later expiry is there, which stays. Or a sweep came between, and perhaps an entry with an earlier one.
      const found = await collection.get(id)
      if (found !== null && (found.expiresAt ?? Infinity) >= expiresAt) return
    }
    throw new Error('denylist.put: the entry is neither there nor can it be inserted')
  }

  return denylistOf({
    async put(entries) {
      for (const entry of entries) await putOne(entry)
    },
    async find(ids) {
      const found = await Promise.all(ids.map((id) => collection.get(id)))
      return found.flatMap((doc) => (doc === null ? [] : [{ ...doc }]))
    },
    sweep: async (before, limit) => (await collection.sweep(before, limit)).removed,
  })
}
