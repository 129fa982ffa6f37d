import type {
  ConfigPatch,
  RecordListChange,
} from '../../../src/engine/configuration/config-patch.js'

/**
 * A second, naive idea of an environment: elements are objects in arrays, not keys with prefixes.
 * It shares no code with the engine.
 */
export interface Model {
  readonly revision: number
  readonly plain: ReadonlyMap<string, string>
  /** A list that was never edited is not there. */
  readonly lists: ReadonlyMap<string, readonly ModelElement[]>
}

export interface ModelElement {
  readonly slug: string
  readonly texts: ReadonlyMap<string, string>
}

/** What the model knows of the declarations. */
export interface Shape {
  readonly plain: readonly string[]
  readonly lists: ReadonlyMap<string, ListShape>
}

type WholeChange = Required<RecordListChange>

interface ListShape {
  readonly max: number
  readonly names: readonly string[]
}

const slugForm = /^[a-z0-9]+(-[a-z0-9]+)*$/

/** The stored map of a model. */
export function flatten({ plain, lists }: Model): Readonly<Record<string, string>> {
  const flat = new Map(plain)
  for (const [list, elements] of lists) {
    flat.set(`${list}.__items`, elements.map(({ slug }) => slug).join(','))
    for (const { slug, texts } of elements) {
      for (const [name, text] of texts) flat.set(`${list}.${slug}.${name}`, text)
    }
  }
  return Object.fromEntries(flat)
}

interface Edit {
  readonly key: string
  readonly text: string
  readonly parts: readonly string[]
}

const editsOf = (patch: ConfigPatch): readonly Edit[] =>
  Object.entries(patch.config ?? {}).map(([key, text]) => ({ key, text, parts: key.split('.') }))

/** What some rule would refuse a patch with: the rule's rank in T-61, and its code. */
type Faults = readonly (readonly [rank: number, code: string])[]

const when = (broken: boolean, rank: number, code: string): Faults =>
  broken ? [[rank, `config.${code}`]] : []

const repeats = (texts: readonly string[]) => new Set(texts).size < texts.length

function faults(model: Model, patch: ConfigPatch, shape: Shape): Faults {
  const { revision } = patch
  const recordLists = (patch.recordLists ?? []).map(whole)
  return [
    ...when(repeats(recordLists.map(({ field }) => field)), 1, 'duplicate_field'),
    ...recordLists.flatMap((change) => [
      ...when(change.remove.length > 0 && revision === undefined, 3, 'removal_requires_revision'),
      ...slugFaults(change),
      ...listFaults(change, model.lists.get(change.field) ?? [], shape.lists.get(change.field)),
    ]),
    ...when(revision !== undefined && revision !== model.revision, 11, 'revision_conflict'),
    ...editsOf(patch).flatMap((edit) => editFaults(edit, model, patch, shape)),
  ]
}

function whole({ field, create = [], remove = [] }: RecordListChange): WholeChange {
  return { field, create, remove }
}

function slugFaults({ create, remove }: WholeChange): Faults {
  const malformed = [...create, ...remove].some((slug) => !slugForm.test(slug))
  return [
    ...when(
      create.some((slug) => remove.includes(slug)),
      2,
      'create_and_remove',
    ),
    ...when(repeats(create) || repeats(remove), 4, 'invalid_slug'),
    ...when(malformed, 5, 'invalid_slug'),
  ]
}

function listFaults(
  { create, remove }: WholeChange,
  elements: readonly ModelElement[],
  shape: ListShape | undefined,
): Faults {
  if (shape === undefined) return when(true, 6, 'unknown_key')
  const has = (slug: string) => elements.some((element) => element.slug === slug)
  const size = elements.length - remove.length + create.length
  return [
    ...when(create.length > shape.max, 10, 'too_many_elements'),
    ...when(create.some(has) || !remove.every(has), 12, 'roster_conflict'),
    ...when(create.length > 0 && size > shape.max, 13, 'too_many_elements'),
  ]
}

const isLeft = ({ parts: [field = '', slug = '', name = ''], parts }: Edit, { lists }: Model) =>
  parts.length === 3 &&
  lists.get(field)?.some((one) => one.slug === slug && one.texts.has(name)) === true

function editFaults(
  edit: Edit,
  model: Model,
  { recordLists = [] }: ConfigPatch,
  shape: Shape,
): Faults {
  const { key, parts } = edit
  const [field = '', slug = '', name = ''] = parts
  if (parts.length === 1 && shape.plain.includes(key)) return []
  const list = shape.lists.get(field)
  if (list !== undefined && parts.length === 2 && slug === '__items') {
    return [[7, 'config.membership_not_allowed']]
  }
  const known = list?.names.includes(name) && parts.length === 3 && slugForm.test(slug)
  if (!known) {
    // What an earlier declaration left can be removed, where it is.
    if (edit.text === '' && isLeft(edit, model)) return []
    return [[edit.text === '' ? 11.5 : 8, 'config.unknown_key']]
  }
  const changes = recordLists.filter((change) => change.field === field).map(whole)
  if (changes.some(({ remove }) => remove.includes(slug))) return [[9, 'config.unknown_key']]
  const exists = model.lists.get(field)?.some((element) => element.slug === slug)
  const created = changes.some(({ create }) => create.includes(slug))
  return exists || created ? [] : [[12, 'config.roster_conflict']]
}

/** Null removes it. */
function withText(texts: ReadonlyMap<string, string>, name: string, text: string | null) {
  const next = new Map(texts)
  if (text === null) next.delete(name)
  else next.set(name, text)
  return next
}

/** The next model, or the code the patch is refused with. */
export function applyToModel(model: Model, patch: ConfigPatch, shape: Shape): Model | string {
  const [first] = [...faults(model, patch, shape)].sort(([a], [b]) => a - b)
  if (first !== undefined) return first[1]
  const plain = new Map(model.plain)
  const lists = new Map(model.lists)
  for (const { field, create, remove } of (patch.recordLists ?? []).map(whole)) {
    if (create.length + remove.length === 0) continue
    const kept = (lists.get(field) ?? []).filter(({ slug }) => !remove.includes(slug))
    lists.set(field, [...kept, ...create.map((slug) => ({ slug, texts: new Map() }))])
  }
  for (const { key, text, parts } of editsOf(patch)) {
    const [field = '', slug = '', name = ''] = parts
    const isDeclared = parts.length === 1 || shape.lists.get(field)?.names.includes(name)
    if (parts.length === 1) plain.set(key, text)
    else {
      const elements = lists.get(field) ?? []
      lists.set(
        field,
        elements.map((element) =>
          element.slug === slug
            ? { slug, texts: withText(element.texts, name, isDeclared ? text : null) }
            : element,
        ),
      )
    }
  }
  return { revision: model.revision + 1, plain, lists }
}
