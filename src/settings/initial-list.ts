import {
  FieldBool,
  FieldSelect,
  type ItemDeclaration,
} from '../engine/configuration/config-declaration.js'
import { OptionsError } from '../errors/index.js'
import { redirectProblem } from './address-rules.js'
import type { AuthField } from './auth-field.js'

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** What a sub-field's text must look like, beyond its type. */
const shapes: Readonly<Record<string, { readonly pattern: RegExp; readonly expected: string }>> = {
  domain: { pattern: /^[^\s@/]+$/, expected: "must be a domain such as 'example.org'" },
  uri: { pattern: /^[a-z][a-z0-9+.-]*:[^\s#]+$/i, expected: 'must be an absolute URI without #' },
  url: { pattern: /^https:\/\/[^\s]+$/i, expected: "must be an 'https:' address" },
}

/**
 * The stored keys of a record list given as an array of elements. Throws an `OptionsError` whose
 * path names the element and the member.
 */
export function storedList(
  field: AuthField,
  elements: unknown,
): readonly (readonly [string, string])[] {
  const path = `settings.${field.key}`
  const max = field.max ?? 50
  if (!Array.isArray(elements)) throw new OptionsError(path, 'must be an array of elements.')
  if (elements.length > max) throw new OptionsError(path, `must have at most ${max} elements.`)
  const slugs: string[] = []
  const entries = elements.flatMap((element: unknown, index) => {
    const at = `${path}[${index}]`
    const members = membersOf(element, at)
    const slug = slugOf(members, at)
    if (slugs.includes(slug)) throw new OptionsError(`${at}.slug`, 'must be used only once.')
    slugs.push(slug)
    return storedElement(field, slug, members, at)
  })
  return [[`${field.key}.__items`, slugs.join(',')], ...entries]
}

function storedElement(
  field: AuthField,
  slug: string,
  members: ReadonlyMap<string, unknown>,
  at: string,
): readonly (readonly [string, string])[] {
  const items = field.items ?? []
  for (const name of members.keys()) {
    if (name === 'slug' || name === 'label') continue
    if (!items.some((item) => item.key === name)) {
      throw new OptionsError(`${at}.${name}`, 'is not a member of this list. Remove it.')
    }
  }
  const label = members.get('label') ?? slug
  if (!isPlainText(label)) throw new OptionsError(`${at}.label`, 'must be text.')
  const prefix = `${field.key}.${slug}.`
  const entries: (readonly [string, string])[] = [[`${prefix}__label`, label]]
  for (const item of items) {
    const value = members.get(item.key)
    if (value === undefined) requireAbsent(item, members, at)
    else entries.push([prefix + item.key, itemText(item, value, `${at}.${item.key}`)])
  }
  if (field.key === 'oauthRedirectTargets') checkTarget(members, at)
  return entries
}

/** Its members have the types they should. */
function checkTarget(members: ReadonlyMap<string, unknown>, at: string): void {
  const [uri, flow] = [String(members.get('uri')), String(members.get('flow'))]
  const wrong = redirectProblem(uri, flow, { firstValues: true })
  if (wrong !== null) throw new OptionsError(`${at}.uri`, `${wrong}.`)
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
  const { options = [], max = Number.POSITIVE_INFINITY } = item
  if (!isPlainText(value) || value === '') throw new OptionsError(path, 'must be non-empty text.')
  if (item.type === FieldSelect && !options.includes(value)) {
    throw new OptionsError(path, `must be one of ${options.map((one) => `'${one}'`).join(', ')}.`)
  }
  if (Array.from(value).length > max) {
    throw new OptionsError(path, `must be at most ${max} characters.`)
  }
  const shape = shapes[item.key]
  if (shape?.pattern.test(value) === false) throw new OptionsError(path, `${shape.expected}.`)
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
  if (typeof slug !== 'string' || slug.length > 63 || !slugForm.test(slug)) {
    throw new OptionsError(
      `${at}.slug`,
      "must be lower-case letters and digits in words joined by single hyphens, such as 'acme-eu', at most 63 characters.",
    )
  }
  return slug
}

function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && !/[\p{Cc}\p{Cs}]/u.test(value)
}
