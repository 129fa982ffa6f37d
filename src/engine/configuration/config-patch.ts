import { mapTexts } from '../map-texts.js'
import { quoteInput } from '../quote-input.js'
import { checkLocated, type LocatedPatch, locatePatch, unknownKeyRefusal } from './check-patch.js'
import type { FieldDeclaration } from './config-declaration.js'
import { readRoster, rosterKey } from './config-keys.js'
import { maxElements } from './max-elements.js'
import type { ConfigPatch, PatchRefusal } from './patch-refusal.js'
import { assertPatchShape } from './patch-shape.js'

export { checkPatch } from './check-patch.js'
export type {
  ConfigPatch,
  PatchRefusal,
  PatchRefusalCode,
  RecordListChange,
} from './patch-refusal.js'

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
