import { type Edits, isWithin, noEdits } from './draft.ts'
import { keyPlace, slugsOf, textsOf } from './environment-texts.ts'
import type { Environment } from './module-types.ts'

/** Something that was changed here and, meanwhile, in the store. */
export interface Conflict {
  /** The key that both changed; `list.slug` for an element that came or went. */
  readonly key: string
  /** The text now in the store; null where there is none, and for a secret. */
  readonly theirs: string | null
  /** The text of this page; null for an element, and for a secret. */
  readonly mine: string | null
  readonly kind: 'text' | 'createdTwice' | 'removedThere' | 'removedHere'
  /** The edits on the new state that bring about what this page wants. */
  readonly keepMine: Edits
}

export interface Rebased {
  /** The edits that nothing stands against. */
  readonly kept: Edits
  readonly conflicts: readonly Conflict[]
}

/** What was changed meanwhile: the keys that revisions after the one edited here wrote or removed. */
export interface Meanwhile {
  readonly now: Environment
  readonly touched: ReadonlySet<string>
}

/**
 * Carries edits over to a newer state of their environment. An edit of something that did not change in the store is
 * kept, one that is in the store already is dropped, and anything else is for the operator to decide.
 */
export function rebaseEdits(base: Environment, edits: Edits, meanwhile: Meanwhile): Rebased {
  const states: States = { base, edits, ...meanwhile }
  const outcomes = [
    ...pairs(edits.created).map(([field, slug]) => createdAgain(states, field, slug)),
    ...pairs(edits.removed).map(([field, slug]) => removedAgain(states, field, slug)),
    ...goneElements(states).map(([field, slug]) => removedThere(states, field, slug)),
    ...[...edits.texts].map(([key, mine]) => textAgain(states, key, mine)),
  ]
  return {
    kept: joinEdits(outcomes.flatMap((one) => (one === null || 'kind' in one ? [] : [one]))),
    conflicts: outcomes.flatMap((one) => (one !== null && 'kind' in one ? [one] : [])),
  }
}

interface States extends Meanwhile {
  readonly base: Environment
  readonly edits: Edits
}

/** Edits that stand, a conflict, or null where there is nothing left to do. */
type Outcome = Edits | Conflict | null

function createdAgain({ edits, now }: States, field: string, slug: string): Outcome {
  const texts = within(edits.texts, field, slug)
  if (!slugsOf(now, field).includes(slug)) return { ...noEdits, texts, created: only(field, slug) }
  return aboutElement('createdTwice', field, slug, { ...noEdits, texts })
}

function removedAgain(states: States, field: string, slug: string): Outcome {
  const { now, touched } = states
  if (!slugsOf(now, field).includes(slug)) return null
  const keepMine = { ...noEdits, removed: only(field, slug) }
  const keys = [...touched, ...textsOf(now).keys()].filter((key) => isWithin(key, field, slug))
  if (!keys.some((key) => isTouched(states, key))) return keepMine
  return aboutElement('removedHere', field, slug, keepMine)
}

/** Elements that were edited here and removed there. */
function goneElements({ base, edits, now }: States): readonly (readonly [string, string])[] {
  return base.recordLists.flatMap(({ field, elements }) =>
    elements
      .filter(({ slug }) => !slugsOf(now, field).includes(slug))
      .filter(({ slug }) => within(edits.texts, field, slug).size > 0)
      .map(({ slug }) => [field, slug] as const),
  )
}

function removedThere({ base, edits }: States, field: string, slug: string): Outcome {
  const texts = new Map([
    ...within(textsOf(base), field, slug),
    ...within(edits.texts, field, slug),
  ])
  return aboutElement('removedThere', field, slug, {
    ...noEdits,
    texts,
    created: only(field, slug),
  })
}

function textAgain(states: States, key: string, mine: string): Outcome {
  const { field, slug } = keyPlace(key)
  // Those of an element that came or went are settled with it.
  const isThroughout = (slug: string) =>
    [states.base, states.now].every((state) => slugsOf(state, field).includes(slug))
  if (slug !== null && !isThroughout(slug)) return null
  const keepMine = { ...noEdits, texts: new Map([[key, mine]]) }
  if (!isTouched(states, key)) return keepMine
  const theirs = textsOf(states.now).get(key) ?? null
  return theirs === mine ? null : { key, theirs, mine, kind: 'text', keepMine }
}

function isTouched({ base, now, touched }: States, key: string): boolean {
  return touched.has(key) || textsOf(base).get(key) !== textsOf(now).get(key)
}

function aboutElement(
  kind: Conflict['kind'],
  field: string,
  slug: string,
  keepMine: Edits,
): Conflict {
  return { key: `${field}.${slug}`, theirs: null, mine: null, kind, keepMine }
}

function within(texts: ReadonlyMap<string, string>, field: string, slug: string) {
  return new Map([...texts].filter(([key]) => isWithin(key, field, slug)))
}

const only = (field: string, slug: string) => new Map([[field, new Set([slug])]])

/** All of several edits, which do not touch the same. */
export function joinEdits(all: readonly Edits[]): Edits {
  return {
    texts: new Map(all.flatMap(({ texts }) => [...texts])),
    created: grouped(all.flatMap(({ created }) => pairs(created))),
    removed: grouped(all.flatMap(({ removed }) => pairs(removed))),
  }
}

function grouped(all: readonly (readonly [string, string])[]) {
  const fields = [...new Set(all.map(([field]) => field))]
  return new Map(
    fields.map((field) => [
      field,
      new Set(all.flatMap(([own, slug]) => (own === field ? [slug] : []))),
    ]),
  )
}

function pairs(
  sets: ReadonlyMap<string, ReadonlySet<string>>,
): readonly (readonly [string, string])[] {
  return [...sets].flatMap(([field, slugs]) => [...slugs].map((slug) => [field, slug] as const))
}
