import type { AnyCollectionSpec } from '../ports/store.js'
import { type Column, checkValue, longestKey, longestText } from './check-value.js'

/** A declared index, on fields in this order. */
export interface Index {
  readonly on: readonly string[]
  readonly unique: boolean
}

/** A collection spec that was checked, with `id` and `expiresAt` among its columns. */
export interface Shape {
  readonly name: string
  readonly columns: ReadonlyMap<string, Column>
  readonly indexes: readonly Index[]
  /** Declared by earlier versions; a store may drop them. */
  readonly retired: readonly Index[]
  readonly expires: AnyCollectionSpec['expires']
}

/** A document or a part of one, by field name. */
export type Row = Readonly<Record<string, unknown>>

/** All of a shape but its name. */
type Form = Omit<Shape, 'name'>

/** `shapeOf` for one backend, which checks once what the collections of both surfaces share. */
export function shapeReader(): (spec: AnyCollectionSpec) => Shape {
  const known = new WeakMap<object, { readonly spec: AnyCollectionSpec; readonly form: Form }>()
  return (spec) => {
    checkName(spec)
    const before = known.get(spec.fields)
    if (before !== undefined && isSameForm(before.spec, spec)) {
      return { name: spec.name, ...before.form }
    }
    const form = formOf(spec)
    known.set(spec.fields, { spec, form })
    return { name: spec.name, ...form }
  }
}

/**
 * Checks a spec once, when a collection is bound. Throws a `TypeError` naming the collection and
 * what is wrong with it, so that a mistaken spec fails at start-up and not at the first request.
 */
export function shapeOf(spec: AnyCollectionSpec): Shape {
  checkName(spec)
  return { name: spec.name, ...formOf(spec) }
}

function checkName({ name }: AnyCollectionSpec): void {
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name)) {
    throw new TypeError(`collection "${name}": names are lower-case words joined by "_"`)
  }
}

function isSameForm(one: AnyCollectionSpec, other: AnyCollectionSpec): boolean {
  const { fields, indexes, retiredIndexes, expires } = one
  return (
    fields === other.fields &&
    indexes === other.indexes &&
    retiredIndexes === other.retiredIndexes &&
    expires === other.expires
  )
}

function formOf(spec: AnyCollectionSpec): Form {
  const columns = columnsOf(spec)
  const indexes = spec.indexes.map(indexOf)
  const retired = (spec.retiredIndexes ?? []).map(indexOf)
  const seen = new Set<string>()
  for (const index of [...indexes, ...retired]) {
    checkIndex(spec, columns, index)
    const fields = [...index.on].sort().join()
    if (seen.has(fields)) {
      throw new TypeError(`collection "${spec.name}": two indexes on ${fields}`)
    }
    seen.add(fields)
  }
  return { columns, indexes, retired, expires: spec.expires }
}

function indexOf({ on, unique }: AnyCollectionSpec['indexes'][number]): Index {
  return { on, unique: unique === true }
}

const noDefault = { default: undefined, longest: longestText }

function columnsOf(spec: AnyCollectionSpec): ReadonlyMap<string, Column> {
  const columns = new Map<string, Column>([
    ['id', { ...noDefault, name: 'id', kind: 'text', nullable: false, longest: longestKey }],
    ['expiresAt', { ...noDefault, name: 'expiresAt', kind: 'time', nullable: true }],
  ])
  const indexed = new Set(spec.indexes.flatMap(({ on }) => on))
  for (const [name, field] of Object.entries(spec.fields)) {
    if (!/^[a-z][A-Za-z0-9]*$/.test(name) || columns.has(name)) {
      throw new TypeError(`collection "${spec.name}": "${name}" cannot be a field's name`)
    }
    const column = {
      name,
      kind: field.kind,
      nullable: field.nullable === true,
      default: field.default,
      longest: indexed.has(name) ? longestKey : longestText,
    }
    if (column.default !== undefined) {
      checkValue(column, column.default, `collection "${spec.name}", default`)
    }
    columns.set(name, column)
  }
  return columns
}

function checkIndex(
  spec: AnyCollectionSpec,
  columns: ReadonlyMap<string, Column>,
  index: Index,
): void {
  const fault = (problem: string): never => {
    throw new TypeError(`collection "${spec.name}", index on ${index.on.join()}: ${problem}`)
  }
  if (index.on.length === 0) fault('names no field')
  if (new Set(index.on).size < index.on.length) fault('names a field twice')
  for (const name of index.on) {
    const column = columns.get(name)
    if (!column) fault(`"${name}" is not declared`)
    else if (name === 'id') fault('`id` is the key already')
    else if (column.kind === 'json') fault(`"${name}" is json, which cannot be indexed`)
    else if (index.unique && column.nullable) fault(`unique, but "${name}" is nullable`)
    else if (name === 'expiresAt' && spec.expires === 'never') fault('`expiresAt` is always null')
  }
}
