import type { Filter } from 'mongodb'
import type { Documents, StoredDocument } from './handle.js'

const mostLeft = 100_000

// Ids travel to the server and back; their list must stay far below the 16 MB of a message.
const batch = 1000

/** True of what expired at or before `before`. Null, and what is not there, is never so. */
export function expiredBy(before: number): Filter<StoredDocument> {
  return { expiresAt: { $lte: new Date(before) } }
}

/**
 * Removes at most `limit` of what expired, a batch at a time: chosen by its id, then deleted with
 * the expiry tested again, so that what was renewed in between stays. `complete` when the last look
 * found no more than it took.
 */
export async function removeExpired(
  documents: Documents,
  before: number,
  limit: number,
): Promise<{ readonly removed: number; readonly complete: boolean }> {
  const expired = expiredBy(before)
  let removed = 0
  while (removed < limit) {
    const wanted = Math.min(batch, limit - removed)
    const chosen = await documents
      .find(expired, {
        projection: { _id: 1 },
        sort: { expiresAt: 1, _id: 1 },
        limit: wanted,
        batchSize: wanted,
      })
      .toArray()
    if (chosen.length > 0) {
      const ids = chosen.map(({ _id }) => _id)
      const { deletedCount } = await documents.deleteMany({
        $and: [{ _id: { $in: ids } }, expired],
      })
      removed += deletedCount
    }
    if (chosen.length < wanted) return { removed, complete: true }
  }
  return { removed, complete: false }
}

export function countExpired(documents: Documents, before: number): Promise<number> {
  return documents.countDocuments(expiredBy(before), { limit: mostLeft })
}
