import type { Column } from '../../src/checks/check-value.js'
import type { Shape } from '../../src/checks/shape.js'
import type { FieldKind } from '../../src/ports/store.js'
import { indexesOf, type NamedIndex, textOf } from './texts.js'

/** What `prepare` has learnt of a collection from every version that prepared it. */
export interface SchemaRecord {
  readonly fields: Readonly<Record<string, RecordedField>>
  readonly indexes: readonly NamedIndex[]
}

interface RecordedField {
  readonly kind: FieldKind
  readonly nullable: boolean
  /** As text; absent without one. */
  readonly default?: string
}

export const emptyRecord: SchemaRecord = { fields: {}, indexes: [] }

/**
 * The record with what a shape declares beyond it; the very same text when that is nothing. Nothing
 * is ever taken out: replicas of an older version may still be at work, and what a newer one added
 * is kept by them too. Throws when the shape contradicts the record.
 */
export function extended(record: SchemaRecord, shape: Shape): SchemaRecord {
  const fields: Record<string, RecordedField> = { ...record.fields }
  for (const column of shape.columns.values()) {
    if (column.name === 'id') continue
    const known = fields[column.name]
    if (known) refuseOther(shape, column, known)
    fields[column.name] = { ...fieldOf(column), ...known }
  }
  const known = new Set(record.indexes.map(({ name }) => name))
  const added = indexesOf(shape).filter(({ name }) => !known.has(name))
  return { fields, indexes: [...record.indexes, ...added] }
}

/** Fields that documents stored already could not have. */
export function requiredFields(before: SchemaRecord, after: SchemaRecord): readonly string[] {
  return Object.entries(after.fields)
    .filter(([name, field]) => !(name in before.fields) && isRequired(field))
    .map(([name]) => name)
}

/** The part that the scripts read at every write. */
export function layoutOf({ fields, indexes }: SchemaRecord): string {
  const defaults = Object.entries(fields).flatMap(([name, { default: text }]) => {
    return text === undefined ? [] : [[name, text] as const]
  })
  const required = Object.entries(fields).filter(([, field]) => isRequired(field))
  return JSON.stringify({
    indexes,
    defaults: Object.fromEntries(defaults),
    required: required.map(([name]) => name),
  })
}

function isRequired({ nullable, default: text }: RecordedField): boolean {
  return !nullable && text === undefined
}

function fieldOf(column: Column): RecordedField {
  const { kind, nullable } = column
  if (column.default === undefined) return { kind, nullable }
  return { kind, nullable, default: textOf(column.default) }
}

function refuseOther(shape: Shape, column: Column, known: RecordedField): void {
  const wanted = fieldOf(column)
  const refuse = (was: string, is: string): never => {
    throw new Error(
      `redis: "${column.name}" of collection "${shape.name}" was prepared as ${was}, but is now ` +
        `declared as ${is}; give the field a new name instead`,
    )
  }
  if (known.kind !== wanted.kind || known.nullable !== wanted.nullable) {
    refuse(described(known), described(wanted))
  }
  // Documents without the field are indexed by the default they had until now.
  const { default: was } = known
  if (was !== undefined && wanted.default !== undefined && was !== wanted.default) {
    refuse(`${described(known)} with another default`, `${described(wanted)} with this one`)
  }
}

function described({ kind, nullable }: RecordedField): string {
  return nullable ? `"${kind}, nullable"` : `"${kind}"`
}
