import {
  FieldBool,
  type FieldDeclaration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import { OptionsError } from '../errors/index.js'
import type { AuthField } from './auth-field.js'
import { storedList } from './initial-list.js'
import type { InitialSettings } from './initial-settings.js'
import { findField } from './settings-reader.js'
import { expected, valueProblem } from './stored-value.js'

export type { InitialSettings } from './initial-settings.js'

const liveVariable = 'JWT_ACCESS_TOKEN_EXPIRY'

/**
 * The host's initial settings as the texts that are stored; a member that is `undefined` is not
 * given. Throws an `OptionsError` naming `settings.<key>` at the first thing wrong: an unknown key,
 * a value of another type, a value out of range.
 */
export function toStoredValues(initial: InitialSettings): Record<string, string> {
  if (typeof initial !== 'object' || initial === null || Array.isArray(initial)) {
    throw new OptionsError('settings', 'must be an object of settings.')
  }
  const stored: (readonly [string, string])[] = []
  for (const [key, value] of Object.entries(initial)) {
    const field = findField(key)
    if (field === undefined) {
      throw new OptionsError(`settings.${key}`, 'is not a setting. Check its spelling.')
    }
    if (value !== undefined) stored.push(...storedEntries(field, value))
  }
  return Object.fromEntries(stored)
}

/**
 * What the environment says about fields with an `EnvVar`: stored at the first boot, where the key
 * is absent. An empty variable counts as not set. `accessTokenTTL` is left out, because its variable
 * is asked at every reading instead, and so are record lists, which no variable can hold.
 */
export function seedFromEnv(
  declarations: readonly FieldDeclaration[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const seeds: [string, string][] = []
  for (const { key, envVar, type } of declarations) {
    if (envVar === undefined || envVar === liveVariable || type === FieldRecordList) continue
    const value = env[envVar]
    if (value !== undefined && value !== '') seeds.push([key, value])
  }
  return Object.fromEntries(seeds)
}

function storedEntries(field: AuthField, value: unknown): readonly (readonly [string, string])[] {
  if (field.type === FieldRecordList) return storedList(field, value)
  const path = `settings.${field.key}`
  const text = textOf(field, value)
  if (text === null) throw new OptionsError(path, `${expected(field)}.`)
  const problem = valueProblem(field, text)
  if (problem !== null) throw new OptionsError(path, `${problem}.`)
  return [[field.key, text]]
}

/** Null when the value is not of the field's type, or is empty where empty means nothing. */
function textOf(field: AuthField, value: unknown): string | null {
  if (field.type === FieldBool) return typeof value === 'boolean' ? String(value) : null
  if (field.type === FieldInt) return Number.isSafeInteger(value) ? String(value) : null
  if (typeof value !== 'string') return null
  const mayBeEmpty =
    field.type === FieldString ||
    field.type === FieldSecret ||
    field.key === 'sessionAbsoluteTTL' ||
    field.key === 'passwordMaxAge'
  return value === '' && !mayBeEmpty ? null : value
}
