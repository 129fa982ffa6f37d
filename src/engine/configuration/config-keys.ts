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
 * that neither slugs nor field keys contain.
 */
export function elementPrefix(field: string, slug: string): string {
  return `${field}.${slug}.`
}

/** The stored text under `key`; '' without one. No member of `Object.prototype` is a text. */
export function storedText(values: Values, key: string): string {
  const text: unknown = values[key]
  return typeof text === 'string' ? text : ''
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

/** Finds what a key holds; null for a key that no declaration accounts for. */
export type KeyLocator = (key: string) => KeyPlace | null

/** A locator for one pass over keys: those of one element, one after the other, cost little. */
export function keyLocator(fields: ReadonlyMap<string, FieldDeclaration>): KeyLocator {
  let last: Element | null = null
  return (key) => {
    if (last !== null && key.startsWith(last.prefix)) return locateInElement(key, last)
    const dot = key.indexOf('.')
    const field = fields.get(dot < 0 ? key : key.slice(0, dot))
    if (field === undefined || (field.type === FieldRecordList) === dot < 0) return null
    if (dot < 0) return { kind: 'field', field }
    if (key === rosterKey(field.key)) return { kind: 'roster', field }
    const slug = key.slice(dot + 1, Math.max(key.indexOf('.', dot + 1), 0))
    if (!isSlug(slug)) return null
    last = { field, slug, prefix: elementPrefix(field.key, slug) }
    return locateInElement(key, last)
  }
}

interface Element {
  readonly field: FieldDeclaration
  readonly slug: string
  readonly prefix: string
}

function locateInElement(key: string, { field, slug, prefix }: Element): KeyPlace | null {
  const name = key.slice(prefix.length)
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
