import type { AnyBulkWriteOperation } from 'mongodb'
import type { Denylist, DenylistEntry } from '../../src/ports/backend.js'
import { denylistOf } from '../shared/checked-calls.js'
import { NotMigratedError } from '../shared/not-migrated-error.js'
import type { BoundCollection } from './bound-collection.js'
import { type Documents, isTaken, type StoredDocument } from './handle.js'
import { removeExpired } from './sweep.js'
import { rowOf } from './values.js'

// Each further try needs the entry to have been put and swept in between.
const mostTries = 10

/**
 * A document that `prepare` leaves among the entries and every `find` asks for. A database that was
 * dropped must not look like one in which no session was ended.
 */
const marker = 'postern:prepared'

/** After the notes, so that what a crash leaves is prepared again. It has no expiry, and is never swept. */
export async function markDenylist({ documents }: BoundCollection): Promise<void> {
  if ((await documents.findOne({ _id: marker })) !== null) return
  try {
    const mark = { $setOnInsert: { reason: 'prepared' } }
    await documents.updateOne({ _id: { $eq: marker } }, mark, { upsert: true })
  } catch (error) {
    // Another replica did it at the same moment.
    if (!isTaken(error)) throw error
  }
}

/** `onLost` is called when the database is not the one that was prepared any more. */
export function mongoDenylist(
  { name, shape, open }: BoundCollection,
  onLost: () => void,
): Denylist {
  const entries = denylistOf({
    put: async (entries) => put(await open(), entries.map(listing)),
    async find(ids) {
      const options = { batchSize: ids.length + 2 }
      const wanted = { _id: { $in: [...ids, marker] } }
      const found = await (await open()).find(wanted, options).toArray()
      const entries = found.filter(({ _id }) => _id !== marker)
      if (entries.length === found.length) {
        onLost()
        throw new NotMigratedError(`mongo: collection "${name}" was dropped, or not prepared`)
      }
      return entries.map((stored) => rowOf(shape, stored))
    },
    sweep: async (before, limit) => (await removeExpired(await open(), before, limit)).removed,
  })
  return { ...entries, findsInGroups: true }
}

type Listing = AnyBulkWriteOperation<StoredDocument>

/** The first reason stays, since only an insert writes it; the later expiry wins. */
function listing({ id, reason, expiresAt }: DenylistEntry): Listing {
  const update = { $setOnInsert: { reason }, $max: { expiresAt: new Date(expiresAt) } }
  return { updateOne: { filter: { _id: { $eq: id } }, update, upsert: true } }
}

/**
 * One command. If two calls list a new id at the same moment, the server may refuse one of them as a
 * duplicate: nothing of that entry was written then, and the next try finds it listed. Sending all
 * entries again changes nothing about those that were written.
 */
async function put(documents: Documents, listings: readonly Listing[]): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await documents.bulkWrite([...listings], { ordered: false })
      return
    } catch (error) {
      if (tries === mostTries || !isTaken(error)) throw error
    }
  }
}
