import { quoteInput } from '../quote-input.js'
import { type FieldDeclaration, FieldRecordList } from './config-declaration.js'
import { fieldsByKey, type KeyPlace, keyLocator } from './config-keys.js'
import { maxElements } from './max-elements.js'
import type {
  ConfigPatch,
  PatchRefusal,
  PatchRefusalCode,
  RecordListChange,
} from './patch-refusal.js'
import { assertPatchShape } from './patch-shape.js'
import { isSlug } from './slug.js'

/** A patch with every key looked up. */
export interface LocatedPatch {
  readonly patch: ConfigPatch
  readonly fields: ReadonlyMap<string, FieldDeclaration>
  readonly lists: readonly Required<RecordListChange>[]
  readonly keys: readonly LocatedKey[]
}

interface LocatedKey {
  readonly key: string
  readonly text: string
  readonly place: KeyPlace | null
}

/**
 * `module`: the PATCH of the module, which edits the active environment and no `recordLists`.
 * `environment`: the PATCH of one environment.
 */
export type PatchRoute = 'module' | 'environment'

/**
 * The refusal (422) of a patch that no state of the environment could make valid; null for any other.
 * It reads no environment, so a stale revision does not hide it. Throws a `TypeError` for a patch of another shape.
 */
export function checkPatch(
  patch: ConfigPatch,
  declarations: readonly FieldDeclaration[],
  route: PatchRoute,
): PatchRefusal | null {
  assertPatchShape('checkPatch', patch)
  return checkLocated(locatePatch(patch, declarations), route)
}

export function locatePatch(
  patch: ConfigPatch,
  declarations: readonly FieldDeclaration[],
): LocatedPatch {
  const fields = fieldsByKey(declarations)
  const locate = keyLocator(fields)
  const keys = Object.entries(patch.config ?? {}).map(([key, text]) => ({
    key,
    text,
    place: locate(key),
  }))
  return { patch, fields, lists: (patch.recordLists ?? []).map(whole), keys }
}

function whole({ field, create = [], remove = [] }: RecordListChange): Required<RecordListChange> {
  return { field, create, remove }
}

/** `checkPatch` on what is looked up already. */
export function checkLocated(located: LocatedPatch, route: PatchRoute): PatchRefusal | null {
  if (route === 'module' && located.patch.recordLists !== undefined) return membershipByModule()
  for (const rule of rules) {
    const refusal = rule(located)
    if (refusal !== null) return refusal
  }
  return null
}

/** Each looks at the whole patch before the next is asked: the first broken rule decides, not the first broken field. */
const rules: readonly ((located: LocatedPatch) => PatchRefusal | null)[] = [
  fieldTwice,
  createdAndRemoved,
  removalWithoutRevision,
  slugTwice,
  malformedSlug,
  unknownList,
  rosterWritten,
  unknownKey,
  keyOfRemoved,
  tooManyCreated,
]

function refuse(code: PatchRefusalCode, field: string, message: string): PatchRefusal {
  return { status: 422, code, field, message }
}

function membershipByModule(): PatchRefusal {
  const message =
    '"recordLists" needs the environment that it is for. Name it, and send the edit again.'
  return refuse('config.membership_not_allowed', 'recordLists', message)
}

function fieldTwice({ lists }: LocatedPatch): PatchRefusal | null {
  const field = repeated(lists.map((list) => list.field))
  if (field === undefined) return null
  const message = `${quoteInput(field)} is in "recordLists" twice. Join both into one entry.`
  return refuse('config.duplicate_field', field, message)
}

function createdAndRemoved({ lists }: LocatedPatch): PatchRefusal | null {
  for (const { field, create, remove } of lists) {
    const removed = new Set(remove)
    const slug = create.find((one) => removed.has(one))
    if (slug === undefined) continue
    const message = `${quoteInput(field)}: ${quoteInput(slug)} cannot be created and removed at once.`
    return refuse('config.create_and_remove', field, message)
  }
  return null
}

function removalWithoutRevision({ lists, patch }: LocatedPatch): PatchRefusal | null {
  if (patch.revision !== undefined) return null
  const list = lists.find(({ remove }) => remove.length > 0)
  if (list === undefined) return null
  const message = 'Removing an element needs the "revision" that the environment was read at.'
  return refuse('config.removal_requires_revision', list.field, message)
}

function slugTwice({ lists }: LocatedPatch): PatchRefusal | null {
  for (const { field, create, remove } of lists) {
    const slug = repeated(create) ?? repeated(remove)
    if (slug === undefined) continue
    return refuse(
      'config.invalid_slug',
      field,
      `${quoteInput(field)} names ${quoteInput(slug)} twice.`,
    )
  }
  return null
}

function malformedSlug({ lists }: LocatedPatch): PatchRefusal | null {
  for (const { field, create, remove } of lists) {
    const slug = [...create, ...remove].find((one) => !isSlug(one))
    if (slug === undefined) continue
    const form = 'lower-case letters and digits, joined by single hyphens, at most 63 characters'
    const message = `${quoteInput(field)}: ${quoteInput(slug)} is no slug. A slug is ${form}.`
    return refuse('config.invalid_slug', field, message)
  }
  return null
}

function unknownList({ lists, fields }: LocatedPatch): PatchRefusal | null {
  const list = lists.find(({ field }) => fields.get(field)?.type !== FieldRecordList)
  if (list === undefined) return null
  const message = `${quoteInput(list.field)} is no record list of this module.`
  return refuse('config.unknown_key', list.field, message)
}

function rosterWritten({ keys }: LocatedPatch): PatchRefusal | null {
  const found = keys.find(({ place }) => place?.kind === 'roster')
  if (found === undefined) return null
  const remedy = 'Name the elements to create and remove in "recordLists" of the environment.'
  const message = `${quoteInput(found.key)} cannot be set. ${remedy}`
  return refuse('config.membership_not_allowed', found.key, message)
}

/** An empty text may remove what an earlier declaration left there. */
function unknownKey({ keys }: LocatedPatch): PatchRefusal | null {
  const found = keys.find(({ place, text }) => place === null && text !== '')
  return found === undefined ? null : unknownKeyRefusal(found.key)
}

export function unknownKeyRefusal(key: string): PatchRefusal {
  const message = `${quoteInput(key)} is not a key of this module. Check its spelling.`
  return refuse('config.unknown_key', key, message)
}

/** Written after the removal, its text would outlive the element. */
function keyOfRemoved({ keys, lists }: LocatedPatch): PatchRefusal | null {
  const removed = new Map(lists.map(({ field, remove }) => [field, new Set(remove)]))
  for (const { key, place } of keys) {
    if (place?.kind !== 'element') continue
    if (removed.get(place.field.key)?.has(place.slug) !== true) continue
    const message = `${quoteInput(key)} belongs to an element that this request removes.`
    return refuse('config.unknown_key', key, message)
  }
  return null
}

function tooManyCreated({ lists, fields }: LocatedPatch): PatchRefusal | null {
  for (const { field, create } of lists) {
    const max = maxElements(fields.get(field))
    if (create.length <= max) continue
    const message = `${quoteInput(field)} can have at most ${max} elements, and ${create.length} are to be created.`
    return refuse('config.too_many_elements', field, message)
  }
  return null
}

function repeated(texts: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return texts.find((text) => seen.size === seen.add(text).size)
}
