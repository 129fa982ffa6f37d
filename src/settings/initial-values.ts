import {
  FieldBool,
  type FieldDeclaration,
  FieldInt,
  FieldRecordList,
  FieldString,
  maxElements,
} from '../engine/configuration/config-declaration.js'
import { OptionsError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { authSettingDeclarations, findSetting } from './index.js'
import { storedList } from './initial-list.js'
import type { Setting } from './setting.js'
import type { InitialSettings } from './settings.js'
import { valueProblem } from './value-problem.js'

/**
 * The host's initial settings as the texts that are stored; a member that is `undefined` is not
 * given. Throws an `OptionsError` naming `settings.<key>` at the first thing wrong: an unknown key,
 * a value of another type, a value out of range, an address that an edit could not name either.
 */
export function toStoredValues(
  initial: InitialSettings,
  isPublicAddress: IsPublicAddress,
): Record<string, string> {
  if (typeof initial !== 'object' || initial === null || Array.isArray(initial)) {
    throw new OptionsError('settings', 'must be an object of settings.')
  }
  const stored: (readonly [string, string])[] = []
  for (const [key, value] of Object.entries(initial)) {
    const setting = findSetting(key)
    if (setting === undefined) {
      throw new OptionsError(`settings.${key}`, 'is not a setting. Check its spelling.')
    }
    if (value !== undefined) stored.push(...storedEntries(key, setting, value, isPublicAddress))
  }
  return Object.fromEntries(stored)
}

/**
 * What the environment says about fields with an `EnvVar`: stored at the first boot, where the key
 * is absent. An empty variable counts as not set. Record lists are left out: no variable can hold one.
 */
export function seedFromEnv(
  declarations: readonly FieldDeclaration[],
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const seeds: [string, string][] = []
  for (const { key, envVar, type } of declarations) {
    if (envVar === undefined || type === FieldRecordList) continue
    const value = env[envVar]
    if (value !== undefined && value !== '') seeds.push([key, value])
  }
  return Object.fromEntries(seeds)
}

/** As `seedFromEnv`, of the library's own settings, without what is asked of the environment at every reading instead. */
export function authSeedsFromEnv(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const isSeeded = ({ key }: FieldDeclaration) => findSetting(key)?.isSetBy === undefined
  return seedFromEnv(authSettingDeclarations.filter(isSeeded), env)
}

function storedEntries(
  key: string,
  setting: Setting<unknown>,
  value: unknown,
  isPublicAddress: IsPublicAddress,
): readonly (readonly [string, string])[] {
  const { list: rule, declaration } = setting
  if (rule !== undefined) {
    return storedList({ key, max: maxElements(declaration), rule, isPublicAddress }, value)
  }
  const path = `settings.${key}`
  const text = textOf(setting, value)
  if (text === null) throw new OptionsError(path, `${setting.form}.`)
  const problem = valueProblem(setting, text)
  if (problem !== null) throw new OptionsError(path, `${problem}.`)
  return [[key, text]]
}

/** Null when the value is not of the setting's type, or is empty where empty means nothing. */
function textOf({ declaration, isSetWhenEmpty }: Setting<unknown>, value: unknown): string | null {
  const { type, default: usual } = declaration
  if (type === FieldBool) return typeof value === 'boolean' ? String(value) : null
  if (type === FieldInt) return Number.isSafeInteger(value) ? String(value) : null
  if (typeof value !== 'string') return null
  const mayBeEmpty = type === FieldString || usual === undefined || isSetWhenEmpty === true
  return value === '' && !mayBeEmpty ? null : value
}
