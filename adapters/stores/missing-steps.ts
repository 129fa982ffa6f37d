import { type Index, shapeOf } from '../../src/checks/shape.js'
import type { AnyCollectionSpec } from '../../src/ports/store.js'

/** What a database has of one collection. */
export interface FoundCollection {
  readonly fields: readonly string[]
  /** In any order; the fields of an index in the order of the index. */
  readonly indexes: readonly { readonly on: readonly string[]; readonly unique: boolean }[]
}

/** One thing that `prepare` has to do. */
export type SchemaStep =
  /** With all its fields and indexes. */
  | { readonly kind: 'collection'; readonly spec: AnyCollectionSpec }
  | { readonly kind: 'field'; readonly spec: AnyCollectionSpec; readonly field: string }
  | { readonly kind: 'index'; readonly spec: AnyCollectionSpec; readonly index: Index }
  /** May be dropped: no version of the library needs it any more. */
  | { readonly kind: 'retiredIndex'; readonly spec: AnyCollectionSpec; readonly index: Index }

/**
 * What `prepare(specs)` has to create, and may drop, where the database has `found`: first collections, then fields, then
 * indexes. An index on `expiresAt` is among them where the collection expires. Fields and indexes that no
 * spec names stay: an older version, or the host, may need them. Throws a `TypeError` for a spec that is not valid.
 */
export function missingSteps(
  specs: readonly AnyCollectionSpec[],
  found: ReadonlyMap<string, FoundCollection>,
): readonly SchemaStep[] {
  const steps = specs.flatMap((spec) => stepsOf(spec, found.get(spec.name)))
  const order = ['collection', 'field', 'index', 'retiredIndex']
  return steps.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
}

function stepsOf(spec: AnyCollectionSpec, found: FoundCollection | undefined): SchemaStep[] {
  const { columns, indexes, retired, expires } = shapeOf(spec)
  if (found === undefined) return [{ kind: 'collection', spec }]
  const has = (index: Index) =>
    found.indexes.some(({ on, unique }) => unique === index.unique && on.join() === index.on.join())
  const expiry: Index = { on: ['expiresAt'], unique: false }
  const isDeclared = indexes.some(({ on }) => on.join() === 'expiresAt')
  const wanted = expires === 'never' || isDeclared ? indexes : [...indexes, expiry]
  return [
    ...[...columns.keys()]
      .filter((field) => !found.fields.includes(field))
      .map((field) => ({ kind: 'field' as const, spec, field })),
    ...wanted
      .filter((index) => !has(index))
      .map((index) => ({ kind: 'index' as const, spec, index })),
    ...retired.filter(has).map((index) => ({ kind: 'retiredIndex' as const, spec, index })),
  ]
}
