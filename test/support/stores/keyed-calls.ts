import type { AnyCollectionSpec, Collection, Doc, Guard, Page } from '../../../src/ports/store.js'

/** The value of the row `id7`. */
function exampleOf(spec: AnyCollectionSpec, field: string): string | number | boolean {
  switch (spec.fields[field]?.kind) {
    case 'integer':
      return 7
    case 'boolean':
      return false
    case 'time':
      return 7000
    default:
      return `${field}7`
  }
}

/** What it is; whether at most one document is sorted; the call. */
export type KeyedCall = readonly [what: string, sorts: boolean, call: () => Promise<unknown>]

/** Every call of a request on a collection: by its id, and by each of its indexes. */
export function keyedCalls(
  spec: AnyCollectionSpec,
  collection: Collection<Doc>,
): readonly KeyedCall[] {
  const scalar = Object.keys(spec.fields).find((field) => spec.fields[field]?.kind !== 'json')
  const same = scalar === undefined ? { expiresAt: null } : { [scalar]: exampleOf(spec, scalar) }
  const byId: readonly KeyedCall[] = [
    ['get', false, () => collection.get('id7')],
    ['update', false, () => collection.update('id7', same as Guard<Doc>, same)],
    ['take', false, () => collection.take('id9', same as Guard<Doc>)],
  ]
  const pages: readonly Omit<Page, 'limit'>[] = [
    {},
    { after: 'id2' },
    { newestFirst: true },
    { newestFirst: true, after: 'id8' },
  ]
  const byIndex = spec.indexes.flatMap(({ on, unique }) => {
    const equal = Object.fromEntries(on.map((field) => [field, exampleOf(spec, field)]))
    return pages.map((page): KeyedCall => {
      const what = `find by ${on.join()} ${JSON.stringify(page)}`
      // One row at most is no work to sort.
      return [what, unique === true, () => collection.find(equal, { limit: 20, ...page })]
    })
  })
  return [...byId, ...byIndex]
}
