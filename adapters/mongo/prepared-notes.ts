import type { Column } from '../../src/checks/check-value.js'
import type { Shape } from '../../src/checks/shape.js'
import { NotMigratedError } from '../shared/not-migrated-error.js'
import { type Documents, isTaken, type StoredDocument } from './handle.js'
import { wantedIndexes } from './wanted-indexes.js'

/** What a collection has been prepared for, by every version so far. Nothing is ever taken out. */
export interface PreparedNote {
  /** `text`, `text or null`, …, by field. */
  readonly fields: Readonly<Record<string, unknown>>
  /** By an index's name. */
  readonly indexes: Readonly<Record<string, unknown>>
}

export type NotesByName = ReadonlyMap<string, PreparedNote>

/** One document for each collection that was prepared. MongoDB itself keeps no such thing. */
export interface PreparedNotes {
  read(): Promise<NotesByName>
  /** Rejects unless the collection was prepared for this shape. Asks until that is so. */
  check(name: string, shape: Shape): Promise<void>
  /** How often what was known was forgotten: what was checked before has to be checked again. */
  readonly forgotten: number
  /** Forgets all that was known of the database, since it does not hold any more. */
  forget(): void
  /** Notes that it was. Rejects when another version had prepared it for other kinds of fields. */
  write(name: string, shape: Shape): Promise<void>
}

export function preparedNotes(documents: Documents): PreparedNotes {
  let known: NotesByName = new Map()
  let forgotten = 0
  const read = async () => {
    const stored = await documents.find({}, { batchSize: 1000 }).toArray()
    known = new Map(stored.map((one) => [one._id, noteOf(one)]))
    return known
  }
  return {
    read,
    get forgotten() {
      return forgotten
    },
    forget() {
      forgotten += 1
      known = new Map()
    },
    async check(name, shape) {
      if (covers(known.get(name), shape)) return
      if (covers((await read()).get(name), shape)) return
      throw new NotMigratedError(`mongo: collection "${name}" has not been prepared`)
    },
    async write(name, shape) {
      const { fields, indexes } = noteFor(shape)
      const kinds = prefixed('fields', fields)
      // Matches unless a field is noted as another kind; `null` is what is not noted yet.
      const free = Object.entries(kinds).map(([path, kind]) => ({ [path]: { $in: [kind, null] } }))
      const filter = { $and: [{ _id: { $eq: name } }, ...free] }
      const change = { $set: { ...kinds, ...prefixed('indexes', indexes) } }
      try {
        await documents.updateOne(filter, change, { upsert: true })
      } catch (error) {
        if (!isTaken(error)) throw error
        // A note exists already: another replica wrote it just now, or it is for other kinds.
        const { matchedCount } = await documents.updateOne(filter, change)
        if (matchedCount === 0) refuseOtherKinds(name, shape, (await read()).get(name))
      }
    },
  }
}

/** What is in a field cannot be turned into another kind, so nothing is tried. */
export function refuseOtherKinds(name: string, shape: Shape, note: PreparedNote | undefined): void {
  for (const column of shape.columns.values()) {
    const was = note?.fields[column.name]
    const wanted = kindOf(column)
    if (was !== undefined && was !== wanted) {
      throw new Error(
        `mongo: "${column.name}" of collection "${name}" was prepared as "${was}", but is now ` +
          `declared as "${wanted}"; give the field a new name instead`,
      )
    }
  }
}

/** Whether a collection with this note has all that the shape needs. */
export function covers(note: PreparedNote | undefined, shape: Shape): boolean {
  if (note === undefined) return false
  const { fields, indexes } = noteFor(shape)
  return (
    Object.entries(fields).every(([name, kind]) => note.fields[name] === kind) &&
    Object.keys(indexes).every((name) => note.indexes[name] === true)
  )
}

function noteFor(shape: Shape): PreparedNote {
  return {
    fields: Object.fromEntries(
      [...shape.columns.values()].map((column) => [column.name, kindOf(column)]),
    ),
    indexes: Object.fromEntries(wantedIndexes(shape).map(({ name }) => [name, true])),
  }
}

function kindOf({ kind, nullable }: Column): string {
  return nullable ? `${kind} or null` : kind
}

function noteOf({ fields, indexes }: StoredDocument): PreparedNote {
  return { fields: { ...asObject(fields) }, indexes: { ...asObject(indexes) } }
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}

function prefixed(path: string, entries: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(entries).map(([name, value]) => [`${path}.${name}`, value]),
  )
}
