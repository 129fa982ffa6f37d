import { keyPlace, labelKey, slugsOf, textsOf } from './environment-texts.ts'
import type { Environment, Patch } from './module-types.ts'

/** What an operator changed and has not saved. */
export interface Edits {
  /** New texts by key; an empty one clears. */
  readonly texts: ReadonlyMap<string, string>
  /** The slugs of new elements, by record list. */
  readonly created: ReadonlyMap<string, ReadonlySet<string>>
  /** The slugs of elements to remove, by record list. */
  readonly removed: ReadonlyMap<string, ReadonlySet<string>>
}

export interface DraftElement {
  readonly slug: string
  readonly state: 'stored' | 'created' | 'removed'
}

/** Edits of one environment, on the revision that the operator saw. */
export interface Draft {
  readonly base: Environment
  /** The text under a key as it would be saved; null where there is none, and for a secret that is left as it is. */
  text(key: string): string | null
  isEdited(key: string): boolean
  /** A text as it was counts as no edit, but a secret's does: what it was is not known. */
  set(key: string, text: string): void
  undo(key: string): void
  elements(field: string): readonly DraftElement[]
  create(field: string, slug: string, label: string): void
  /** A new element is forgotten; a stored one is removed when the draft is saved. */
  remove(field: string, slug: string): void
  putBack(field: string, slug: string): void
  edits(): Edits
  /** The keys of changed texts, new and removed elements. */
  changes(): readonly string[]
  patch(): Patch
}

export const noEdits: Edits = { texts: new Map(), created: new Map(), removed: new Map() }

export function createDraft(base: Environment, edits: Edits = noEdits): Draft {
  const stored = textsOf(base)
  const texts = new Map(edits.texts)
  const created = slugSets(edits.created)
  const removed = slugSets(edits.removed)

  function forgetTexts(field: string, slug: string): void {
    for (const key of texts.keys()) if (isWithin(key, field, slug)) texts.delete(key)
  }
  const isRemoved = (key: string) => {
    const { field, slug } = keyPlace(key)
    return slug !== null && removed.has(field, slug)
  }

  return {
    base,
    text: (key) => texts.get(key) ?? stored.get(key) ?? null,
    isEdited: (key) => texts.has(key),
    set(key, text) {
      if (stored.get(key) === text) texts.delete(key)
      else texts.set(key, text)
    },
    undo: (key) => texts.delete(key),
    elements(field) {
      const old = slugsOf(base, field).map((slug): DraftElement => {
        return { slug, state: removed.has(field, slug) ? 'removed' : 'stored' }
      })
      const added = created.of(field).map((slug): DraftElement => ({ slug, state: 'created' }))
      return [...old, ...added]
    },
    create(field, slug, label) {
      created.add(field, slug)
      texts.set(labelKey(field, slug), label)
    },
    remove(field, slug) {
      forgetTexts(field, slug)
      if (!created.delete(field, slug)) removed.add(field, slug)
    },
    putBack: (field, slug) => removed.delete(field, slug),
    edits: () => ({ texts, created: created.all(), removed: removed.all() }),
    changes: () => [...texts.keys(), ...created.rosters(), ...removed.rosters()],
    patch() {
      const fields = new Set([...created.all().keys(), ...removed.all().keys()])
      return {
        config: Object.fromEntries([...texts].filter(([key]) => !isRemoved(key))),
        recordLists: [...fields]
          .map((field) => ({ field, create: created.of(field), remove: removed.of(field) }))
          .filter(({ create, remove }) => create.length + remove.length > 0),
        revision: base.revision,
      }
    },
  }
}

/** Whether a key is one of an element's. */
export function isWithin(key: string, field: string, slug: string): boolean {
  return key.startsWith(`${field}.${slug}.`)
}

/** Sets of slugs by record list. */
function slugSets(given: ReadonlyMap<string, ReadonlySet<string>>) {
  const sets = new Map([...given].map(([field, slugs]) => [field, new Set(slugs)]))
  return {
    all: () => sets,
    has: (field: string, slug: string) => sets.get(field)?.has(slug) ?? false,
    of: (field: string) => [...(sets.get(field) ?? [])],
    add: (field: string, slug: string) => sets.set(field, (sets.get(field) ?? new Set()).add(slug)),
    delete: (field: string, slug: string) => sets.get(field)?.delete(slug) ?? false,
    rosters: () =>
      [...sets].flatMap(([field, slugs]) => [...slugs].map((slug) => `${field}.${slug}`)),
  }
}
