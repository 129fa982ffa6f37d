import type { Shape } from '../../src/checks/shape.js'
import { type Documents, openDocuments } from './handle.js'
import type { MongoOptions } from './options.js'
import type { PreparedNotes } from './prepared-notes.js'

/** A collection of the port and the one it is kept in. */
export interface BoundCollection {
  readonly shape: Shape
  /** The stored collection's name. */
  readonly name: string
  readonly documents: Documents
  /**
   * What calls work on. Rejects with a `NotMigratedError` while the database was not prepared for
   * this shape: MongoDB would create the collection at its first document, without an index.
   */
  open(): Promise<Documents>
}

export function bindCollection(
  { db, prefix = '' }: MongoOptions,
  notes: PreparedNotes,
  shape: Shape,
): BoundCollection {
  const name = `${prefix}${shape.name}`
  const documents = openDocuments(db, name)
  let checkedAt: number | null = null
  return {
    shape,
    name,
    documents,
    async open() {
      const { forgotten } = notes
      if (checkedAt !== forgotten) await notes.check(name, shape)
      // For good, unless the database is dropped: nothing is ever taken out of a note.
      checkedAt = forgotten
      return documents
    },
  }
}
