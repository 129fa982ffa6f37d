import type { Collection, CollectionOptions, Db } from 'mongodb'

/** A document as it is stored: `_id` for `id`, then one field for each of the collection's. */
export interface StoredDocument {
  readonly _id: string
  readonly [field: string]: unknown
}

export type Documents = Collection<StoredDocument>

/**
 * These hold whatever the host's connection string says. Reads are the primary's own, latest state: a majority
 * read may be older than what a compare-and-set was just judged by, and a miss would then be
 * explained by a document that is gone. A write is answered once a failover, and where nothing
 * is replicated a crash, can no longer undo it.
 */
const enforced: CollectionOptions = {
  readPreference: 'primary',
  readConcern: { level: 'local' },
  writeConcern: { w: 'majority', journal: true },
  // Values come back as JavaScript's own, even where the host's client asks for BSON's.
  raw: false,
  fieldsAsRaw: {},
  promoteValues: true,
  promoteLongs: true,
  promoteBuffers: false,
  useBigInt64: false,
  // `undefined` never gets here; if it did, it must not leave a guard out.
  ignoreUndefined: false,
}

export function openDocuments(db: Db, name: string): Documents {
  return db.collection<StoredDocument>(name, enforced)
}

/** `DuplicateKey`: a unique index refused. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === 11000
}

/** `NamespaceExists`: another replica created the collection first. */
export function isThere(error: unknown): boolean {
  return codeOf(error) === 48
}

/** `IndexOptionsConflict`, `IndexKeySpecsConflict`. */
export function isIndexConflict(error: unknown): boolean {
  const code = codeOf(error)
  return code === 85 || code === 86
}

/** `IndexNotFound`, `Unauthorized`. */
export function leavesIndex(error: unknown): boolean {
  const code = codeOf(error)
  return code === 27 || code === 13
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
