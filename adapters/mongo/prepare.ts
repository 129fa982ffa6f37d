import type { CollectionInfo, Db, IndexDescriptionInfo } from 'mongodb'
import type { MigrationStep } from '../../src/ports/store.js'
import type { BoundCollection } from './bound-collection.js'
import { type Documents, isIndexConflict, isTaken, isThere, leavesIndex } from './handle.js'
import { covers, type NotesByName, type PreparedNotes, refuseOtherKinds } from './prepared-notes.js'
import { type WantedIndex, wantedIndex, wantedIndexes } from './wanted-indexes.js'

interface Plan {
  readonly bound: BoundCollection
  readonly exists: boolean
  readonly missing: readonly WantedIndex[]
  /** Names of indexes that nothing needs any more. */
  readonly retired: readonly string[]
}

/**
 * Brings the database up to what the collections need: creates what is missing, and drops the indexes
 * that they call retired and nothing else. All is looked at before anything is changed, and every step is one that replicas may
 * take at the same time. The notes come last, so that a collection is used only with its indexes.
 */
export async function prepare(
  db: Db,
  notes: PreparedNotes,
  collections: readonly BoundCollection[],
): Promise<void> {
  const { plans, unnoted } = await plansOf(db, notes, collections)
  await Promise.all(plans.map((plan) => carryOut(db, plan)))
  await Promise.all(unnoted.map(({ name, shape }) => notes.write(name, shape)))
  if (unnoted.length > 0) await notes.read()
}

/** The steps that `prepare` would take now. Changes nothing. The server builds indexes while writes go on. */
export async function stepsOf(
  db: Db,
  notes: PreparedNotes,
  collections: readonly BoundCollection[],
): Promise<readonly MigrationStep[]> {
  const { plans, unnoted } = await plansOf(db, notes, collections)
  const names = plans.flatMap(({ bound: { name }, exists, missing, retired }) => [
    ...(exists ? [] : [`${name}/collection`]),
    ...retired.map((index) => `${name}/retired/${index}`),
    ...missing.map((index) => `${name}/index/${index.name}`),
  ])
  const steps = [...names, ...unnoted.map(({ name }) => `${name}/note`)]
  return steps.map((name) => ({ name, statement: null, blocks: 0 }))
}

async function plansOf(db: Db, notes: PreparedNotes, collections: readonly BoundCollection[]) {
  const noted = await notes.read()
  const infos = await db.listCollections({}, { readPreference: 'primary' }).toArray()
  const found = new Map(infos.map((info) => [info.name, info]))
  const plans = await Promise.all(collections.map((it) => planOf(it, found, noted, notes)))
  const unnoted = collections.filter(({ name, shape }) => !covers(noted.get(name), shape))
  return { plans, unnoted }
}

async function planOf(
  bound: BoundCollection,
  found: ReadonlyMap<string, CollectionInfo | Pick<CollectionInfo, 'name' | 'type'>>,
  noted: NotesByName,
  notes: PreparedNotes,
): Promise<Plan> {
  const info = found.get(bound.name)
  const note = noted.get(bound.name)
  refuseOtherKinds(bound.name, bound.shape, note)
  if (info === undefined) {
    return { bound, exists: false, missing: indexesToCreate(bound, []), retired: [] }
  }
  refuseForeign(info)
  if (note === undefined) await refuseStrangers(bound, notes)
  await refuseHoles(bound, Object.keys(note?.fields ?? {}))
  const indexes: readonly IndexDescriptionInfo[] = await bound.documents.listIndexes().toArray()
  refuseTimeToLive(bound.name, indexes)
  const missing = indexesToCreate(bound, indexes)
  return { bound, exists: true, missing, retired: indexesToDrop(bound, indexes) }
}

async function carryOut(db: Db, { bound, exists, missing, retired }: Plan): Promise<void> {
  await Promise.all(retired.map((name) => dropIndex(bound.documents, name)))
  if (!exists) {
    await db
      .createCollection(bound.name, { writeConcern: { w: 'majority' } })
      .catch((error: unknown) => {
        if (!isThere(error)) throw error
      })
  }
  if (missing.length === 0) return
  try {
    await bound.documents.createIndexes([...missing])
  } catch (error) {
    throw indexFailure(bound.name, missing, error)
  }
}

/** Another replica may have been first; and a user who may not drop it can work beside it. */
async function dropIndex(documents: Documents, name: string): Promise<void> {
  try {
    await documents.dropIndex(name)
  } catch (error) {
    if (!leavesIndex(error)) throw error
  }
}

/** What the server says of a duplicate holds the value, an address perhaps: it is not passed on. */
function indexFailure(name: string, missing: readonly WantedIndex[], error: unknown): unknown {
  const names = missing.map((index) => `"${index.name}"`).join(', ')
  if (isTaken(error)) {
    return new Error(
      `mongo: documents of collection "${name}" have the same value where ${names} must be ` +
        `unique; make them differ and start again`,
    )
  }
  if (isIndexConflict(error)) {
    return new Error(
      `mongo: collection "${name}" has an index that does not go with ${names}; drop it with ` +
        `db.${name}.dropIndex(…) and start again`,
      { cause: error },
    )
  }
  return error
}

/** Documents that are already there and were not written by this library. */
async function refuseStrangers({ name, documents }: BoundCollection, notes: PreparedNotes) {
  const some = await documents.findOne({}, { projection: { _id: 1 } })
  // Another replica may have prepared and used it meanwhile.
  if (some === null || (await notes.read()).has(name)) return
  throw new Error(
    `mongo: collection "${name}" holds documents that are not of this library; choose another ` +
      `database, or set the option "prefix"`,
  )
}

/** A new field without which documents are already stored must have something to read as. */
async function refuseHoles({ name, shape, documents }: BoundCollection, noted: readonly string[]) {
  const fresh = [...shape.columns.values()].filter((column) => {
    const mustBeThere = !column.nullable && column.default === undefined
    return mustBeThere && column.name !== 'id' && !noted.includes(column.name)
  })
  for (const column of fresh) {
    const hole = await documents.findOne({ [column.name]: { $exists: false } })
    if (hole === null) continue
    throw new Error(
      `mongo: collection "${name}" holds documents without "${column.name}"; declare a default ` +
        `for the field, or make it nullable`,
    )
  }
}

type FoundCollection = CollectionInfo | Pick<CollectionInfo, 'name' | 'type'>

/** A collection in which ids and unique values are not compared byte by byte, or none at all. */
function refuseForeign(info: FoundCollection): void {
  const options: Readonly<Record<string, unknown>> = 'options' in info ? { ...info.options } : {}
  const fault =
    info.type !== undefined && info.type !== 'collection'
      ? `is a ${info.type}`
      : ['collation', 'capped'].find((option) => options[option])
  if (fault === undefined) return
  const what = fault.startsWith('is ') ? fault : `was created with the option "${fault}"`
  throw new Error(
    `mongo: "${info.name}" ${what}, with which this library cannot work; move it away, or set ` +
      `the option "prefix"`,
  )
}

/** A server that removes documents by its own clock would end sessions the library has not. */
function refuseTimeToLive(name: string, found: readonly IndexDescriptionInfo[]): void {
  const index = found.find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)
  if (index === undefined) return
  throw new Error(
    `mongo: index "${index.name}" of collection "${name}" removes documents by the server's ` +
      `clock; drop it with db.${name}.dropIndex("${index.name}"), the sweep does its work`,
  )
}

/** The wanted indexes that are not there. Throws when one is there under its name, but another. */
function indexesToCreate(
  { name, shape }: BoundCollection,
  found: readonly IndexDescriptionInfo[],
): readonly WantedIndex[] {
  const wanted = wantedIndexes(shape)
  for (const index of wanted) {
    const other = found.find((one) => one.name === index.name && !serves(one, index))
    if (other === undefined) continue
    throw new Error(
      `mongo: index "${index.name}" of collection "${name}" is not the one this version needs, ` +
        `on ${described(index)}; drop it with db.${name}.dropIndex("${index.name}") and start again`,
    )
  }
  return wanted.filter((index) => !found.some((one) => serves(one, index)))
}

/** The retired indexes that are there, as this library made them: a host's own have other names. */
function indexesToDrop(
  { shape }: BoundCollection,
  found: readonly IndexDescriptionInfo[],
): readonly string[] {
  const retired = shape.retired.map(wantedIndex)
  return retired.flatMap((index) => {
    return found.some((one) => one.name === index.name && serves(one, index)) ? [index.name] : []
  })
}

/** Also an index a host made under a name of its own. */
function serves(found: IndexDescriptionInfo, wanted: WantedIndex): boolean {
  const isWhole = !found.sparse && found['partialFilterExpression'] === undefined
  return (
    JSON.stringify(found.key) === JSON.stringify(wanted.key) &&
    (found.unique === true) === (wanted.unique === true) &&
    isWhole &&
    found['collation'] === undefined
  )
}

function described({ key, unique }: WantedIndex): string {
  return `${unique ? 'unique ' : ''}(${Object.keys(key).join(', ')})`
}
