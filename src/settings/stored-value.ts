import {
  FieldBool,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSelect,
} from '../engine/configuration/config-declaration.js'
import {
  expectedForm,
  type Reading,
  readBool,
  readChoice,
  readDuration,
  readInt,
  readText,
} from '../engine/configuration/stored-value.js'
import { formatDuration } from '../engine/duration.js'
import type { AuthField } from './auth-field.js'
import type { SettingKey } from './settings.js'

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

/** A whole number, knowing that no lockout threshold lies between "off" and the least sensible. */
export function readNumber(field: AuthField, text: string): Reading<number> | null {
  const reading = readInt(field, text)
  const lockout = field.key === 'lockoutThreshold'
  return lockout && (reading?.value === 1 || reading?.value === 2)
    ? { value: 3, inRange: false }
    : reading
}

/** A text of the setting's own shape. */
export function readShaped(field: AuthField, text: string): Reading<string> | null {
  const shaped = text === '' || shapes[field.key]?.pattern.test(text) !== false
  return shaped ? readText(field, text) : null
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
  // A longer lifetime is accepted as typed and acts as the longest one.
  if (field.key === 'accessTokenTTL' && reading !== null && reading.value === field.max) return null
  return expected(field)
}

function readAny(field: AuthField, text: string): Reading<unknown> | null {
  switch (field.type) {
    case FieldBool:
      return readBool(text)
    case FieldInt:
      return readNumber(field, text)
    case FieldDuration:
      return readDuration(field, text)
    case FieldSelect:
      return readChoice(field.options ?? [], text)
    case FieldRecordList:
      return null
    default:
      return readShaped(field, text)
  }
}

/** The form a setting's value must have, as the second half of a sentence. */
export function expected(field: AuthField): string {
  const { min = 0, max } = field
  if (field.key === 'lockoutThreshold') return `must be 0 (off) or a whole number from 3 to ${max}`
  if (field.key === 'accessTokenTTL') {
    return `must be a duration of at least ${formatDuration(min)}, such as '${field.default}'`
  }
  return shapes[field.key]?.expected ?? expectedForm(field)
}

function unstorable(field: AuthField, text: string): boolean {
  const inLine = field.key === 'applePrivateKey' ? text.replace(/[\r\n]/g, '') : text
  return /[\p{Cc}\p{Cs}]/u.test(inLine)
}
