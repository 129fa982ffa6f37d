import {
  FieldBool,
  type FieldDeclaration,
  FieldInt,
  FieldRecordList,
  FieldSelect,
  FieldString,
  type ItemDeclaration,
  maxElements,
} from '../engine/configuration/config-declaration.js'
import { elementPrefix, isSlug, rosterKey } from '../engine/configuration/config-keys.js'
import { isSealedText } from '../engine/configuration/stored-value.js'
import { OptionsError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import { valueProblem } from './auth-module.js'
import type { ListRule, Setting } from './setting.js'
import { authSettingDeclarations, findSetting, type InitialSettings } from './settings.js'

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

type Entries = readonly (readonly [string, string])[]

/** A record list of the settings. */
interface InitialList {
  readonly key: string
  /** The most elements. */
  readonly max: number
  readonly rule: ListRule
  readonly isPublicAddress: IsPublicAddress
}

/**
 * The stored keys of a record list given as an array of elements. Throws an `OptionsError` whose
 * path names the element and the member.
 */
function storedList(list: InitialList, elements: unknown): Entries {
  const { key, max } = list
  const path = `settings.${key}`
  if (!Array.isArray(elements)) throw new OptionsError(path, 'must be an array of elements.')
  if (elements.length > max) throw new OptionsError(path, `must have at most ${max} elements.`)
  const slugs: string[] = []
  const entries = elements.flatMap((element: unknown, index) => {
    const at = `${path}[${index}]`
    const members = membersOf(element, at)
    const slug = slugOf(members, at)
    if (slugs.includes(slug)) throw new OptionsError(`${at}.slug`, 'must be used only once.')
    slugs.push(slug)
    return storedElement(list, slug, members, at)
  })
  return [[rosterKey(key), slugs.join(',')], ...entries]
}

function storedElement(
  { key, rule, isPublicAddress }: InitialList,
  slug: string,
  members: ReadonlyMap<string, unknown>,
  at: string,
): Entries {
  for (const name of members.keys()) {
    if (name === 'slug' || name === 'label') continue
    if (!rule.items.some((item) => item.key === name)) {
      throw new OptionsError(`${at}.${name}`, 'is not a member of this list. Remove it.')
    }
  }
  const label = members.get('label') ?? slug
  if (!isPlainText(label)) throw new OptionsError(`${at}.label`, 'must be text.')
  const texts: Record<string, string> = {}
  for (const item of rule.items) {
    const value = members.get(item.key)
    if (value === undefined) requireAbsent(item, members, at)
    else texts[item.key] = itemText(item, value, `${at}.${item.key}`)
  }
  const given = { firstValues: true, isPublicAddress }
  const problem = rule.problem(texts[rule.item] ?? '', { ...texts, slug, label }, given)
  if (problem !== null) throw new OptionsError(`${at}.${rule.item}`, `${problem}.`)
  const prefix = elementPrefix(key, slug)
  const stored = Object.entries(texts).map(([name, text]) => [prefix + name, text] as const)
  return [[`${prefix}__label`, label], ...stored]
}

function requireAbsent(item: ItemDeclaration, members: ReadonlyMap<string, unknown>, at: string) {
  const { condition } = item
  const applies = condition === undefined || members.get(condition.field) === condition.equals
  if (item.required && applies) throw new OptionsError(`${at}.${item.key}`, 'is required.')
}

function itemText(item: ItemDeclaration, value: unknown, path: string): string {
  if (item.type === FieldBool) {
    if (typeof value !== 'boolean') throw new OptionsError(path, 'must be true or false.')
    return String(value)
  }
  const { options = [], min = 0, max = Number.POSITIVE_INFINITY } = item
  if (!isPlainText(value) || value === '') throw new OptionsError(path, 'must be non-empty text.')
  if (item.type === FieldSelect && !options.includes(value)) {
    throw new OptionsError(path, `must be one of ${options.map((one) => `'${one}'`).join(', ')}.`)
  }
  const { length } = Array.from(value)
  if (length < min) throw new OptionsError(path, `must be at least ${min} characters.`)
  if (length > max) throw new OptionsError(path, `must be at most ${max} characters.`)
  return value
}

function membersOf(element: unknown, at: string): ReadonlyMap<string, unknown> {
  if (typeof element !== 'object' || element === null) {
    throw new OptionsError(at, 'must be an object.')
  }
  return new Map(Object.entries(element))
}

function slugOf(members: ReadonlyMap<string, unknown>, at: string): string {
  const slug = members.get('slug')
  if (typeof slug !== 'string' || !isSlug(slug)) {
    throw new OptionsError(
      `${at}.slug`,
      "must be lower-case letters and digits in words joined by single hyphens, such as 'acme-eu', at most 63 characters.",
    )
  }
  return slug
}

function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && !/[\p{Cc}\p{Cs}]/u.test(value) && !isSealedText(value)
}
