import { formatDuration, parseDuration } from '../duration.js'
import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSelect,
} from './config-declaration.js'

/** The value of a stored text; the nearest allowed value when `inRange` is false. */
export interface Reading<T> {
  readonly value: T
  readonly inRange: boolean
}

/** The members of a field or sub-field that constrain its values. */
export type ValueDeclaration = Pick<FieldDeclaration, 'type' | 'min' | 'max' | 'options' | 'secret'>

type Bounds = Pick<FieldDeclaration, 'min' | 'max'>

export type Scalar = string | number | boolean | null

/** The reason why a text is not a valid value. */
export interface ValueProblem {
  /** The code after the module's name and a dot. */
  readonly code: string
  /** The second half of a sentence. Never repeats the text, which may be a secret. */
  readonly problem: string
}

export function readBool(text: string): Reading<boolean> | null {
  return text === 'true' || text === 'false' ? { value: text === 'true', inRange: true } : null
}

/** Null for a signed number where values below 0 are not allowed, so `-1` never reads as 0. */
export function readInt(bounds: Bounds, text: string): Reading<number> | null {
  const form = (bounds.min ?? 0) < 0 ? /^-?[0-9]+$/ : /^[0-9]+$/
  return form.test(text) ? clamp(bounds, Number(text)) : null
}

export function readDuration(bounds: Bounds, text: string): Reading<number> | null {
  const value = parseDuration(text)
  return value === null ? null : clamp(bounds, value)
}

export function readChoice<T extends string>(
  options: readonly T[],
  text: string,
): Reading<T> | null {
  const value = options.find((option) => option === text)
  return value === undefined ? null : { value, inRange: true }
}

/** Null for a text shorter than `min`, since no nearest text exists. An empty text is always fine. */
export function readText(bounds: Bounds, text: string): Reading<string> | null {
  if (text === '') return { value: '', inRange: true }
  const { min = 0, max = Number.POSITIVE_INFINITY } = bounds
  // A text has at most as many code points as code units: most are measured without being split.
  if (text.length <= max && min <= 1) return { value: text, inRange: true }
  const codePoints = Array.from(text)
  if (codePoints.length < min) return null
  return codePoints.length > max
    ? { value: codePoints.slice(0, max).join(''), inRange: false }
    : { value: text, inRange: true }
}

/**
 * The value that a stored text stands for. What was never set or was cleared reads as `usual`, what is
 * out of range as the nearest allowed value, what cannot be read as `usual`. The last two are told to
 * `warn`, with the value in use.
 */
export function readStored<T>(
  stored: string,
  parse: (text: string) => Reading<T> | null,
  usual: T,
  warn: (problem: 'out of range' | 'unreadable', used: T) => void,
): T {
  if (stored === '') return usual
  const reading = parse(stored)
  if (reading === null) warn('unreadable', usual)
  else if (!reading.inRange) warn('out of range', reading.value)
  return reading === null ? usual : reading.value
}

/** Null when `text` may be stored as a value. The empty text clears, and always may. */
export function valueProblem(declaration: ValueDeclaration, text: string): ValueProblem | null {
  if (text === '') return null
  // Line breaks and tabs are text: a certificate or a template has them.
  if (/[^\P{Cc}\t\n\r]|\p{Cs}/u.test(text)) {
    return {
      code: 'value_malformed',
      problem: 'must not contain control characters or broken Unicode',
    }
  }
  if (isSealedText(text)) return encryptedProblem
  const reading = readValue(declaration, text)
  if (reading?.inRange === true) return null
  const isType = reading === null && !isText(declaration)
  return {
    code: isType ? 'value_malformed' : 'value_out_of_range',
    problem: expectedForm(declaration),
  }
}

/** The problem with a secret that was copied from the database as it stands there. */
export const encryptedProblem: ValueProblem = {
  code: 'value_malformed',
  problem: 'must be the value itself and not its encrypted text',
}

/** The form a value must have, as the second half of a sentence. */
export function expectedForm(declaration: ValueDeclaration): string {
  const { type, min, max, options = [] } = declaration
  switch (type) {
    case FieldBool:
      return 'must be true or false'
    case FieldInt:
      return `must be a whole number${range(min ?? 0, max, String)}`
    case FieldDuration:
      return `must be a duration${range(min ?? 0, max, formatDuration)}, such as '15m' or '1d'`
    case FieldSelect:
      return `must be one of ${options.map((option) => `'${option}'`).join(', ')}`
    case FieldRecordList:
      return `must be a list of at most ${max} elements`
    default:
      return textLength(min ?? 0, max)
  }
}

function range(min: number, max: number | undefined, show: (value: number) => string): string {
  return max === undefined ? ` of at least ${show(min)}` : ` from ${show(min)} to ${show(max)}`
}

function textLength(min: number, max: number | undefined): string {
  if (max === undefined) return `must be text of at least ${min} characters`
  if (min === max) return `must be text of ${max} characters`
  return min > 0
    ? `must be text of ${min} to ${max} characters`
    : `must be text of at most ${max} characters`
}

/** A text as a value of its type; null for what cannot be read, and for a record list. */
export function readValue(declaration: ValueDeclaration, text: string): Reading<Scalar> | null {
  switch (declaration.type) {
    case FieldBool:
      return readBool(text)
    case FieldInt:
      return readInt(declaration, text)
    case FieldDuration:
      return readDuration(declaration, text)
    case FieldSelect:
      return readChoice(declaration.options ?? [], text)
    case FieldRecordList:
      return null
    default:
      return readText(declaration, text)
  }
}

function isText({ type }: ValueDeclaration): boolean {
  return type === 'FieldString' || type === 'FieldSecret'
}

function clamp({ min = 0, max = Number.MAX_SAFE_INTEGER }: Bounds, value: number): Reading<number> {
  const nearest = Math.min(Math.max(value, min), max)
  return { value: nearest, inRange: nearest === value }
}

/** The beginning of every text that a secret box makes, in any version. */
export const sealedPrefix = 'enc:v'

/** The whole form of such a text: version, id of the key, nonce, ciphertext with its tag. */
const sealedForm = /^enc:v\d{1,3}:[\w-]{1,32}:[\w-]{16}:[\w-]{23,}$/

/** Whether the text has the form that a secret box makes. No field takes a value of this form. */
export function isSealedText(text: string): boolean {
  return text.startsWith(sealedPrefix) && sealedForm.test(text)
}

type Values = Readonly<Record<string, string>>

/**
 * A copy in which each text is what `change` makes of it; null leaves its key out.
 *
 * It inherits nothing while it is filled: any key may be set then, and it is a hash table from its start, which
 * costs a quarter of an object that becomes one while it grows.
 */
export function mapTexts(
  values: Values,
  change: (key: string, text: string) => string | null,
): Record<string, string> {
  const copy: Record<string, string> = Object.create(null)
  for (const key of Object.keys(values)) {
    const text = change(key, values[key] ?? '')
    if (text !== null) copy[key] = text
  }
  return Object.setPrototypeOf(copy, Object.prototype)
}
