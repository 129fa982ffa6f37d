import { type RecordElement, readRecordList } from '../engine/configuration/record-list.js'
import {
  type Reading,
  readBool,
  readChoice,
  readDuration,
} from '../engine/configuration/stored-value.js'
import { formatDuration } from '../engine/duration.js'
import type { AuthField } from './auth-field.js'
import { authSettingDeclarations } from './index.js'
import type { SettingKey } from './settings.js'
import { readNumber, readShaped } from './stored-value.js'

const fields = new Map<string, AuthField>(
  authSettingDeclarations.map((field) => [field.key, field]),
)

/** The declaration of a key; undefined for a key the module does not declare. */
export function findField(key: string): AuthField | undefined {
  return fields.get(key)
}

/**
 * Reads stored texts as typed values. What was never set or was cleared reads as its default; what
 * is out of range as the nearest allowed value; what cannot be read as its default. The last two
 * are told to `warn`, without the value, which may be a secret.
 */
export function settingsReader(
  values: Readonly<Record<string, string>>,
  warn: (message: string) => void,
) {
  function read<T>(
    key: SettingKey,
    parse: (field: AuthField, text: string) => Reading<T> | null,
    show: (value: T) => string = String,
  ): T {
    const field = declared(key)
    const stored = values[key] ?? ''
    const reading = stored === '' ? null : parse(field, stored)
    if (reading !== null) {
      if (!reading.inRange) {
        warn(`Setting "${key}" is out of range; using ${show(reading.value)}.`)
      }
      return reading.value
    }
    const usual = parse(field, field.default ?? '')
    if (usual === null) throw new Error(`The declaration of "${key}" has no usable default`)
    if (stored !== '') warn(`Setting "${key}" cannot be read; its default is used.`)
    return usual.value
  }

  return {
    bool: (key: SettingKey): boolean => read(key, (_, text) => readBool(text)),
    int: (key: SettingKey): number => read(key, readNumber),
    duration: (key: SettingKey): number => read(key, readDuration, formatDuration),
    choice: <T extends string>(key: SettingKey, options: readonly T[]): T =>
      read(key, (_, text) => readChoice(options, text)),
    /** Like `duration`, for a setting that may be without one: null. */
    durationOrNone: (key: SettingKey): number | null =>
      read(key, readDurationOrNone, (ms) => (ms === null ? 'none' : formatDuration(ms))),
    text: (key: SettingKey): string =>
      read(key, readShaped, (text) => `its first ${Array.from(text).length} characters`),
    /** Like `text`, but an unreadable value is no value, where the default would allow more. */
    textOrNothing: (key: SettingKey): string => read(key, readTextOrNothing, () => 'no value'),
    /** Given through as it is; whether it is a good secret shows when it is used. */
    secret: (key: SettingKey): string => values[key] ?? '',
    list: (key: SettingKey): readonly RecordElement[] => readRecordList(declared(key), values),
  }
}

export type SettingsReader = ReturnType<typeof settingsReader>

function readDurationOrNone(field: AuthField, text: string): Reading<number | null> | null {
  return text === '' ? { value: null, inRange: true } : readDuration(field, text)
}

function readTextOrNothing(field: AuthField, text: string): Reading<string> {
  return readShaped(field, text) ?? { value: '', inRange: false }
}

function declared(key: SettingKey): AuthField {
  const field = findField(key)
  if (field === undefined) throw new Error(`"${key}" is not declared`)
  return field
}
