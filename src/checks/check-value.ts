import type { FieldKind } from '../ports/store.js'

/** A declared field, its name with it. */
export interface Column {
  readonly name: string
  readonly kind: FieldKind
  readonly nullable: boolean
  /** The value read from documents written before the field existed; undefined without one. */
  readonly default: unknown
  /** The most UTF-16 code units of a text. */
  readonly longest: number
}

/** The most UTF-16 code units of an id, of a text that an index names, and of every other text. */
export const longestKey = 255
export const longestText = 65_535

// Years 1 to 9999: outside of them, databases and ISO 8601 texts stop agreeing.
const earliest = -62_135_596_800_000
const latest = 253_402_300_799_999

const wanted: Readonly<Record<FieldKind, string>> = {
  text: 'a string without NUL and lone surrogates',
  integer: 'a safe integer',
  boolean: 'a boolean',
  time: 'epoch milliseconds of the years 1 to 9999',
  json: 'a JSON value without NUL and lone surrogates',
}

const fits: Readonly<Record<FieldKind, (value: unknown) => boolean>> = {
  text: isText,
  integer: Number.isSafeInteger,
  boolean: (value) => typeof value === 'boolean',
  time: isTime,
  json: (value) => isJson(value, []),
}

/**
 * Throws a `TypeError` unless `value` is of the column's kind. The message names the field and
 * what it takes; it never repeats the value, which may be a hash or a token.
 */
export function checkValue(column: Column, value: unknown, place: string): void {
  if (value === null && column.nullable) return
  if (fits[column.kind](value)) {
    if (typeof value !== 'string' || column.kind === 'json' || value.length <= column.longest)
      return
    const most = column.longest.toLocaleString('en')
    throw new TypeError(`${place}: "${column.name}" is longer than ${most} UTF-16 code units`)
  }
  const orNull = column.nullable ? ' or null' : ''
  throw new TypeError(`${place}: "${column.name}" must be ${wanted[column.kind]}${orNull}`)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= earliest && Number(value) <= latest
}

/** `above` holds the objects around `value`: meeting one of them again is a cycle. */
function isJson(value: unknown, above: readonly object[]): boolean {
  if (value === null || typeof value === 'boolean') return true
  if (typeof value === 'string') return isText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object' || above.includes(value)) return false
  const inside = [...above, value]
  // Array.from turns holes into undefined, which is refused.
  if (Array.isArray(value)) return Array.from(value).every((item) => isJson(item, inside))
  return isPlain(value) && Object.keys(value).every((key) => isMember(value, key, inside))
}

/** Without pairs of all members, of which a map of settings has thousands. */
function isMember(value: object, key: string, above: readonly object[]): boolean {
  const item: unknown = Reflect.get(value, key)
  return isText(key) && (isText(item) || isJson(item, above))
}

/** Objects of another realm count as plain: only the length of the prototype chain is looked at. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
