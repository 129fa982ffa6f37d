import {
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSelect,
} from '../engine/config-declaration.js'
import { formatDuration, parseDuration } from '../engine/duration.js'
import type { AuthField } from './auth-field.js'
import type { SettingKey } from './settings.js'

/** A stored text understood: the value, moved to the nearest allowed one when `inRange` is false. */
export interface Reading<T> {
  readonly value: T
  readonly inRange: boolean
}

interface Shape {
  readonly pattern: RegExp
  readonly expected: string
}

/** Settings whose text has a shape of its own. */
const shapes: Partial<Record<SettingKey, Shape>> = {
  microsoftTenant: {
    pattern:
      /^(common|organizations|consumers|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i,
    expected: "must be 'common', 'organizations', 'consumers' or a tenant's GUID",
  },
  applePrivateKey: {
    pattern: /^-----BEGIN PRIVATE KEY-----\s[A-Za-z0-9+/=\s]+-----END PRIVATE KEY-----\s*$/,
    expected: 'must be the text of the .p8 file Apple gave you (PEM, at most 2,048 characters)',
  },
}

export function readBool(text: string): Reading<boolean> | null {
  return text === 'true' || text === 'false' ? { value: text === 'true', inRange: true } : null
}

/** Only digits are a number: a sign is refused, so that `-1` never comes to mean "off" (0). */
export function readInt(field: AuthField, text: string): Reading<number> | null {
  if (!/^[0-9]+$/.test(text)) return null
  const value = Number(text)
  // The two counts between "off" and the least sensible threshold.
  if (field.key === 'lockoutThreshold' && (value === 1 || value === 2)) {
    return { value: 3, inRange: false }
  }
  return clamp(field, value)
}

export function readDuration(field: AuthField, text: string): Reading<number> | null {
  const value = parseDuration(text)
  return value === null ? null : clamp(field, value)
}

export function readChoice<T extends string>(
  options: readonly T[],
  text: string,
): Reading<T> | null {
  const value = options.find((option) => option === text)
  return value === undefined ? null : { value, inRange: true }
}

export function readText(field: AuthField, text: string): Reading<string> | null {
  if (text === '') return { value: '', inRange: true }
  const codePoints = Array.from(text)
  if (codePoints.length < (field.min ?? 0)) return null
  if (shapes[field.key]?.pattern.test(text) === false) return null
  const max = field.max ?? Number.POSITIVE_INFINITY
  return codePoints.length > max
    ? { value: codePoints.slice(0, max).join(''), inRange: false }
    : { value: text, inRange: true }
}

/**
 * What is wrong with `text` as a new value of a setting that is not a record list, as the second
 * half of a sentence; null when nothing is. An empty text clears a setting and is always right.
 * Never repeats the text, which may be a secret.
 */
export function valueProblem(field: AuthField, text: string): string | null {
  if (text === '') return null
  if (unstorable(field, text)) return 'must not contain control characters or broken Unicode'
  const reading = readAny(field, text)
  if (reading?.inRange === true) return null
  // A longer lifetime is accepted as typed and acts as the longest one (T-15).
  if (field.key === 'accessTokenTTL' && reading !== null && reading.value === field.max) return null
  return expected(field)
}

function readAny(field: AuthField, text: string): Reading<unknown> | null {
  switch (field.type) {
    case FieldBool:
      return readBool(text)
    case FieldInt:
      return readInt(field, text)
    case FieldDuration:
      return readDuration(field, text)
    case FieldSelect:
      return readChoice(field.options ?? [], text)
    case FieldRecordList:
      return null
    default:
      return readText(field, text)
  }
}

/** The form a setting's value must have, as the second half of a sentence. */
export function expected(field: AuthField): string {
  const { min = 0, max = Number.POSITIVE_INFINITY } = field
  switch (field.type) {
    case FieldBool:
      return 'must be true or false'
    case FieldInt:
      return field.key === 'lockoutThreshold'
        ? `must be 0 (off) or a whole number from 3 to ${max}`
        : `must be a whole number from ${min} to ${max}`
    case FieldDuration:
      return field.key === 'accessTokenTTL'
        ? `must be a duration of at least ${formatDuration(min)}, such as '${field.default}'`
        : `must be a duration from ${formatDuration(min)} to ${formatDuration(max)}, such as '15m' or '1d'`
    case FieldSelect:
      return `must be one of ${(field.options ?? []).map((option) => `'${option}'`).join(', ')}`
    case FieldRecordList:
      return `must be a list of at most ${max} elements`
    default:
      return shapes[field.key]?.expected ?? textLength(min, max)
  }
}

function textLength(min: number, max: number): string {
  if (min === max) return `must be text of ${max} characters`
  return min > 0
    ? `must be text of ${min} to ${max} characters`
    : `must be text of at most ${max} characters`
}

function unstorable(field: AuthField, text: string): boolean {
  const inLine = field.key === 'applePrivateKey' ? text.replace(/[\r\n]/g, '') : text
  return /[\p{Cc}\p{Cs}]/u.test(inLine)
}

function clamp(field: AuthField, value: number): Reading<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER } = field
  const nearest = Math.min(Math.max(value, min), max)
  return { value: nearest, inRange: nearest === value }
}
