import { quoteInput } from '../../errors/index.js'
import { type FieldDeclaration, FieldRecordList, maxElements } from './config-declaration.js'
import {
  fieldsByKey,
  isSlug,
  type KeyPlace,
  keyLocator,
  readRoster,
  rosterKey,
} from './config-keys.js'
import { mapTexts } from './stored-value.js'

/** An environment of a module as it is stored. An encrypted value is an opaque text. */
export interface EnvironmentState {
  /** Every write adds one. */
  readonly revision: number
  readonly values: Readonly<Record<string, string>>
}

/** The result of `planPatch`: the next state, or the refusal. */
export type PatchPlan =
  | {
      readonly kind: 'next'
      /** The whole next map: texts of the patch in plain text, all others as stored. */
      readonly values: Readonly<Record<string, string>>
      /** The keys whose text the patch sets, including rosters. */
      readonly changed: readonly string[]
      /** The keys that the next map no longer has. */
      readonly removed: readonly string[]
    }
  | { readonly kind: 'refused'; readonly refusal: PatchRefusal }

/**
 * The environment after a patch, or the refusal. Checks every rule that needs no validator, in this
 * order: patches that can never succeed, the stated revision, undeclared keys, the rosters, their size. A patch is
 * applied completely or not at all. Changes no argument. The caller writes the next revision, unless `changed` and
 * `removed` are both empty: then the patch held nothing, and the environment keeps its revision. Throws a `TypeError`
 * for a patch of another shape, such as an unchecked request body.
 */
export function planPatch(
  environment: EnvironmentState,
  patch: ConfigPatch,
  declarations: readonly FieldDeclaration[],
): PatchPlan {
  assertPatchShape('planPatch', patch)
  const located = locatePatch(patch, declarations)
  const refusal =
    checkLocated(located, 'environment') ??
    revisionConflict(environment, patch) ??
    nothingToRemove(environment, located) ??
    rosterConflict(environment, located) ??
    overfull(environment, located)
  return refusal === null ? nextState(environment, located) : { kind: 'refused', refusal }
}

/**
 * True if a patch whose compare-and-set was lost may be planned again on the newer state. A patch that
 * states a revision may not: it was meant for that revision only.
 */
export function mayRetry(patch: ConfigPatch): boolean {
  return patch.revision === undefined
}

function revisionConflict({ revision }: EnvironmentState, patch: ConfigPatch): PatchRefusal | null {
  if (patch.revision === undefined || patch.revision === revision) return null
  return {
    status: 409,
    code: 'config.revision_conflict',
    field: null,
    message: `The environment is at revision ${revision}, not ${patch.revision}. Read it again and retry.`,
    revision,
  }
}

/** An undeclared key can only be removed, and only where there is one. */
function nothingToRemove(
  { values }: EnvironmentState,
  { keys }: LocatedPatch,
): PatchRefusal | null {
  const found = keys.find(({ key, place }) => place === null && !Object.hasOwn(values, key))
  return found === undefined ? null : unknownKeyRefusal(found.key)
}

function rosterConflict(
  environment: EnvironmentState,
  { lists, keys }: LocatedPatch,
): PatchRefusal | null {
  for (const { field, create, remove } of lists) {
    const roster = new Set(readRoster(field, environment.values))
    const present = create.filter((slug) => roster.has(slug))
    if (present.length > 0) return conflict(environment, field, present, 'exists already')
    const missing = remove.filter((slug) => !roster.has(slug))
    if (missing.length > 0) return conflict(environment, field, missing, 'does not exist')
  }
  const known = new Map<string, ReadonlySet<string>>()
  for (const { key, place } of keys) {
    if (place?.kind !== 'element') continue
    const list = place.field.key
    const slugs = known.get(list) ?? slugsAfterCreation(environment, list, lists)
    known.set(list, slugs)
    if (!slugs.has(place.slug)) return conflict(environment, key, [place.slug], 'does not exist')
  }
  return null
}

function slugsAfterCreation(
  { values }: EnvironmentState,
  list: string,
  lists: LocatedPatch['lists'],
): ReadonlySet<string> {
  const created = lists.find(({ field }) => field === list)?.create ?? []
  return new Set([...readRoster(list, values), ...created])
}

function conflict(
  { revision }: EnvironmentState,
  field: string,
  slugs: readonly string[],
  problem: string,
): PatchRefusal {
  const [first = ''] = slugs
  return {
    status: 409,
    code: 'config.roster_conflict',
    field,
    message: `${quoteInput(field)}: the element ${quoteInput(first)} ${problem}. Read the environment again and retry.`,
    revision,
    slugs,
  }
}

/** Judged on the roster the write applies to. Removing alone shrinks an overfull list. */
function overfull(
  { values }: EnvironmentState,
  { lists, fields }: LocatedPatch,
): PatchRefusal | null {
  for (const { field, create, remove } of lists) {
    const max = maxElements(fields.get(field))
    const size = readRoster(field, values).length - remove.length + create.length
    if (create.length > 0 && size > max) {
      return {
        status: 422,
        code: 'config.too_many_elements',
        field,
        message: `${quoteInput(field)} would have ${size} elements; at most ${max} are allowed.`,
      }
    }
  }
  return null
}

function nextState({ values }: EnvironmentState, { lists, keys }: LocatedPatch): PatchPlan {
  const next = mapTexts(values, (_, text) => text)
  const changed: string[] = []
  const removed: string[] = []
  for (const { field, create, remove } of lists) {
    if (create.length + remove.length === 0) continue
    // Creating sweeps too: whatever lies below the new slug is not the new element's.
    for (const key of keysBelow(values, field, [...remove, ...create])) {
      delete next[key]
      removed.push(key)
    }
    const gone = new Set(remove)
    const kept = readRoster(field, values).filter((slug) => !gone.has(slug))
    // Stays when empty, as a mark that the list was edited and is not to be seeded again.
    next[rosterKey(field)] = [...kept, ...create].join(',')
    changed.push(rosterKey(field))
  }
  for (const { key, text, place } of keys) {
    if (place === null) {
      delete next[key]
      removed.push(key)
    } else {
      next[key] = text
      changed.push(key)
    }
  }
  return {
    kind: 'next',
    values: next,
    changed,
    removed: [...new Set(removed)].filter((key) => !Object.hasOwn(next, key)),
  }
}

/**
 * Undeclared keys included: an element's old secrets go with it. Each key is looked at once, however
 * many elements there are.
 */
function keysBelow(
  values: Readonly<Record<string, string>>,
  field: string,
  slugs: readonly string[],
): readonly string[] {
  const wanted = new Set(slugs)
  const start = field.length + 1
  return Object.keys(values).filter((key) => {
    const end = key.indexOf('.', start)
    return end > 0 && key.startsWith(`${field}.`) && wanted.has(key.slice(start, end))
  })
}

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

function locatePatch(patch: ConfigPatch, declarations: readonly FieldDeclaration[]): LocatedPatch {
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
function checkLocated(located: LocatedPatch, route: PatchRoute): PatchRefusal | null {
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
  const message = `${quoteInput(list.field)}: removing an element needs the "revision" that the environment was read at.`
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

function unknownKeyRefusal(key: string): PatchRefusal {
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

/** What a patch looks like, for an error of a host's code. */
const patchShape =
  '{ config?, recordLists?, revision? }: texts by key, lists as { field, create?, remove? }, a whole revision'

const members = ['config', 'recordLists', 'revision']
const listMembers = ['field', 'create', 'remove']

/** Whether this has the shape of a `ConfigPatch`, which no compiler may have checked. */
export function isPatchShaped(given: unknown, isText = isString): boolean {
  if (!hasOnly(given, members)) return false
  const { config = {}, recordLists = [], revision } = given
  const isList = (list: unknown): boolean => isListChange(list, isText)
  return (
    (revision === undefined || Number.isSafeInteger(revision)) &&
    isObject(config) &&
    Object.values(config).every(isText) &&
    isListOf(recordLists, isList)
  )
}

/** For the public functions that take a patch. Throws a `TypeError` that names the argument and its form. */
function assertPatchShape(name: string, given: unknown): void {
  if (isPatchShaped(given)) return
  throw new TypeError(`${name}: "patch" must be ${patchShape}`)
}

function isListChange(given: unknown, isText: typeof isString): boolean {
  if (!hasOnly(given, listMembers)) return false
  const { field, create = [], remove = [] } = given
  return isText(field) && isListOf(create, isText) && isListOf(remove, isText)
}

/** A list with a hole has nothing there, which `every` alone would pass by. */
function isListOf(given: unknown, isOne: (one: unknown) => boolean): boolean {
  return Array.isArray(given) && Array.from<unknown>(given).every((one) => isOne(one))
}

function isString(given: unknown): boolean {
  return typeof given === 'string'
}

function hasOnly(given: unknown, names: readonly string[]): given is Record<string, unknown> {
  return isObject(given) && Object.keys(given).every((name) => names.includes(name))
}

function isObject(given: unknown): given is Readonly<Record<string, unknown>> {
  // Neither a list nor a Map, in any realm.
  return Object.prototype.toString.call(given) === '[object Object]'
}

/** The elements to create and to remove in one record list. Other elements stay as they are. */
export interface RecordListChange {
  /** The key of a `FieldRecordList`. */
  readonly field: string
  /** Slugs of new elements, appended to the roster in this order. Default: none. */
  readonly create?: readonly string[]
  /** Slugs of elements to remove, with every key below them. Default: none. */
  readonly remove?: readonly string[]
}

/** An edit of one environment. Keys that it does not mention stay. */
export interface ConfigPatch {
  /** New texts by key; an empty text clears. */
  readonly config?: Readonly<Record<string, string>>
  readonly recordLists?: readonly RecordListChange[]
  /** The revision that the editor saw. Required if an element is removed. */
  readonly revision?: number
}

/** The codes with which an edit is refused before any validator runs. */
export type PatchRefusalCode =
  | 'config.membership_not_allowed'
  | 'config.duplicate_field'
  | 'config.create_and_remove'
  | 'config.removal_requires_revision'
  | 'config.invalid_slug'
  | 'config.unknown_key'
  | 'config.too_many_elements'
  | 'config.revision_conflict'
  | 'config.roster_conflict'

/**
 * The reason why a patch was not applied. 422: the patch itself is wrong. 409: it was made on another
 * state of the environment; read it again and retry.
 */
export interface PatchRefusal {
  readonly status: 409 | 422
  readonly code: PatchRefusalCode
  /** The key or record list concerned, as the patch spelled it; null for the patch as a whole. */
  readonly field: string | null
  /** Safe to show: holds names from the patch, never a value. */
  readonly message: string
  /** With 409: the environment's current revision. */
  readonly revision?: number
  /** With `config.roster_conflict`: the elements that exist already, or no longer exist. */
  readonly slugs?: readonly string[]
}
