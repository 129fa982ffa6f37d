import type { CollectionInfo, IndexDescriptionInfo } from 'mongodb'
import type { BoundCollection } from './bound-collection.js'
import { type WantedIndex, wantedIndex, wantedIndexes } from './wanted-indexes.js'

type FoundCollection = CollectionInfo | Pick<CollectionInfo, 'name' | 'type'>

/** A collection in which ids and unique values are not compared byte by byte, or none at all. */
export function refuseForeign(info: FoundCollection): void {
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
export function refuseTimeToLive(name: string, found: readonly IndexDescriptionInfo[]): void {
  const index = found.find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined)
  if (index === undefined) return
  throw new Error(
    `mongo: index "${index.name}" of collection "${name}" removes documents by the server's ` +
      `clock; drop it with db.${name}.dropIndex("${index.name}"), the sweep does its work`,
  )
}

/** The wanted indexes that are not there. Throws when one is there under its name, but another. */
export function indexesToCreate(
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
export function indexesToDrop(
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
