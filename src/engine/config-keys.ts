import {
  type FieldDeclaration,
  FieldRecordList,
  type ItemDeclaration,
} from './config-declaration.js'
import { isSlug } from './slug.js'

type Values = Readonly<Record<string, string>>

/** Holds the roster of a record list: slugs joined by commas, in order. */
export function rosterKey(field: string): string {
  return `${field}.__items`
}

/**
 * Every key of one element begins with it, and no key of another element does: it ends in the dot
 * that neither slugs nor field keys contain (T-69).
 */
export function elementPrefix(field: string, slug: string): string {
  return `${field}.${slug}.`
}

/** The stored text under `key`; '' when there is none. Never a member of `Object.prototype`. */
export function storedText(values: Values, key: string): string {
  return Object.hasOwn(values, key) ? (values[key] ?? '') : ''
}

/** The slugs of a record list, in order. What a damaged roster names twice counts once. */
export function readRoster(field: string, values: Values): readonly string[] {
  const text = storedText(values, rosterKey(field))
  return text === '' ? [] : [...new Set(text.split(','))].filter((slug) => slug !== '')
}

/** What a stored key holds, by the declarations in force. */
export type KeyPlace =
  | { readonly kind: 'field'; readonly field: FieldDeclaration }
  | { readonly kind: 'roster'; readonly field: FieldDeclaration }
  | {
      readonly kind: 'element'
      readonly field: FieldDeclaration
      readonly slug: string
      /** null = the element's label. */
      readonly item: ItemDeclaration | null
    }

/** Null for a key that no declaration accounts for. */
export function locateKey(
  key: string,
  fields: ReadonlyMap<string, FieldDeclaration>,
): KeyPlace | null {
  const dot = key.indexOf('.')
  const field = fields.get(dot < 0 ? key : key.slice(0, dot))
  if (field === undefined) return null
  if (dot < 0) return field.type === FieldRecordList ? null : { kind: 'field', field }
  return field.type === FieldRecordList ? locateInList(key, dot, field) : null
}

function locateInList(key: string, dot: number, field: FieldDeclaration): KeyPlace | null {
  const second = key.indexOf('.', dot + 1)
  if (second < 0) return key === rosterKey(field.key) ? { kind: 'roster', field } : null
  const slug = key.slice(dot + 1, second)
  if (!isSlug(slug)) return null
  const name = key.slice(second + 1)
  if (name === '__label') return { kind: 'element', field, slug, item: null }
  const item = field.items?.find((one) => one.key === name)
  return item === undefined ? null : { kind: 'element', field, slug, item }
}

/** The declarations by key. */
export function fieldsByKey(
  declarations: readonly FieldDeclaration[],
): ReadonlyMap<string, FieldDeclaration> {
  return new Map(declarations.map((field) => [field.key, field]))
}
