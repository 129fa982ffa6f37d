import {
  type FieldDeclaration,
  FieldRecordList,
  type ItemDeclaration,
} from './config-declaration.js'

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/
const maxLength = 63

/** Letters that Unicode does not decompose into a Latin letter and a mark. */
const spelledOut: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['ø', 'o'],
  ['ł', 'l'],
  ['đ', 'd'],
  ['ð', 'd'],
  ['þ', 'th'],
  ['ı', 'i'],
])

/** True for lower-case letters and digits in groups joined by single hyphens, 1 to 63 characters. */
export function isSlug(text: string): boolean {
  return text.length <= maxLength && slugForm.test(text)
}

/** A letter or digit that has no spelling in `a-z0-9` here. Modifier letters are accents. */
const foreign = /(?![a-z0-9])[\p{Ll}\p{Lu}\p{Lt}\p{Lo}\p{N}]/u

/**
 * The slug for a new element of a record list, from the name that an operator typed: lower case,
 * accents dropped, everything else a hyphen, cut to 63 characters. `Ünïcode & Co.` gives `unicode-co`.
 *
 * A name with letters or digits of another script ends in eight hexadecimal digits, a hash (FNV-1a) of the whole name in
 * lower case, so that such names differ: `Mail 東京` gives `mail-e7270f77`, and `東京` gives `item-06271ed0`. The same name
 * gives the same slug everywhere. Two names can give one slug; the store refuses the second (409
 * `config.roster_conflict`).
 *
 * Throws a `RangeError` for a name without any letter or digit.
 */
export function mintSlug(name: string): string {
  // Twice, since some signs are capitals only once they are taken apart, as `№` and `𝐇`.
  const folded = name.toLowerCase().normalize('NFKD').toLowerCase()
  const latin = folded
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => spelledOut.get(letter) ?? '')
  if (foreign.test(latin)) {
    const mark = hashOf(folded.trim())
    return `${hyphenated(latin, maxLength - mark.length - 1) || 'item'}-${mark}`
  }
  const slug = hyphenated(latin, maxLength)
  if (slug === '') {
    throw new RangeError(
      'The name has no letter or digit to make a slug of; choose a slug such as "mail-eu".',
    )
  }
  return slug
}

function hyphenated(text: string, length: number): string {
  return text
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, length)
    .replace(/-$/, '')
}

/** FNV-1a of 32 bits over UTF-16 code units. It tells names apart and protects nothing. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(16).padStart(8, '0')
}

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

/** An element: its `slug`, which never changes, its `label`, and the text of each sub-field. */
export interface RecordElement {
  readonly slug: string
  readonly label: string
  readonly [subField: string]: string
}

/**
 * The elements of a record list, in roster order. `<field>.__items` holds the roster (slugs joined by
 * commas), `<field>.<slug>.__label` the label, and `<field>.<slug>.<subfield>` one value.
 *
 * An absent or empty roster is an empty list. A repeated slug is one element. An absent sub-field
 * reads as '', an absent label as the slug. Keys of slugs outside the roster and of undeclared
 * sub-fields are ignored.
 */
export function readRecordList(
  declaration: Pick<FieldDeclaration, 'key' | 'items'>,
  values: Readonly<Record<string, string>>,
): readonly RecordElement[] {
  const { key, items = [] } = declaration
  return readRoster(key, values).map((slug) => {
    const prefix = elementPrefix(key, slug)
    const label = storedText(values, `${prefix}__label`) || slug
    const element: Writable = { slug, label }
    for (const item of items) {
      // No sub-field can pass for the slug: such a declaration is refused, but not here.
      if (!Object.hasOwn(element, item.key))
        element[item.key] = storedText(values, prefix + item.key)
    }
    return element
  })
}

interface Writable extends RecordElement {
  [subField: string]: string
}
