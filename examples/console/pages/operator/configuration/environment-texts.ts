import { isSecretField } from './is-secret-field.ts'
import type { Environment, Module } from './module-types.ts'

/** Where a key of an environment belongs. */
export interface KeyPlace {
  readonly field: string
  /** The slug of an element of a record list; null for a field of the module. */
  readonly slug: string | null
  /** `__label` for the name of an element; null for a field of the module. */
  readonly subField: string | null
}

/** `hooks.eu.url` is the sub-field `url` of the element `eu` of the list `hooks`. */
export function keyPlace(key: string): KeyPlace {
  const [field = '', slug = null, subField = null] = key.split('.')
  return { field, slug, subField }
}

export const labelKey = (field: string, slug: string): string => `${field}.${slug}.__label`

/** The texts of an environment by the keys under which edits name them. Secrets are not among them. */
export function textsOf(environment: Environment): ReadonlyMap<string, string> {
  const texts = new Map(Object.entries(environment.config))
  for (const { field, elements } of environment.recordLists) {
    for (const { slug, label, ...subFields } of elements) {
      texts.set(labelKey(field, slug), label)
      for (const [key, text] of Object.entries(subFields)) {
        if (text !== null) texts.set(`${field}.${slug}.${key}`, text)
      }
    }
  }
  return texts
}

/** The slugs of a record list, in order of creation. */
export function slugsOf({ recordLists }: Environment, field: string): readonly string[] {
  const list = recordLists.find((one) => one.field === field)
  return list?.elements.map(({ slug }) => slug) ?? []
}

/** What people call a key: `Webhooks › Gmail EU › URL`. */
export function nameOf(module: Module, texts: ReadonlyMap<string, string>, key: string): string {
  const { field, slug, subField } = keyPlace(key)
  const declared = module.fields.find((one) => one.key === field)
  const parts = [declared?.label ?? field]
  if (slug === '__items') return `${parts[0]} › elements`
  if (slug !== null) parts.push(texts.get(labelKey(field, slug)) ?? slug)
  if (subField === '__label') parts.push('Name')
  else if (subField !== null) {
    parts.push(declared?.items?.find((item) => item.key === subField)?.label ?? subField)
  }
  return parts.join(' › ')
}

/** Whether the API never shows what stands under a key. */
export function isSecretKey(module: Module, key: string): boolean {
  const { field, subField } = keyPlace(key)
  const declared = module.fields.find((one) => one.key === field)
  const place = subField === null ? declared : declared?.items?.find(({ key }) => key === subField)
  return place !== undefined && isSecretField(place)
}
