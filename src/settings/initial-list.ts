import {
  FieldBool,
  FieldSelect,
  type ItemDeclaration,
} from '../engine/configuration/config-declaration.js'
import { elementPrefix, isSlug, rosterKey } from '../engine/configuration/config-keys.js'
import { isSealedText } from '../engine/configuration/stored-value.js'
import { OptionsError } from '../errors/index.js'
import type { IsPublicAddress } from './address-rules.js'
import type { ListRule } from './list-rule.js'

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
export function storedList(list: InitialList, elements: unknown): Entries {
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
