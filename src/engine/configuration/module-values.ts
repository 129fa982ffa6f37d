import { ConfigValidationError } from '../../errors/index.js'
import {
  FieldBool,
  type FieldDeclaration,
  FieldDuration,
  FieldInt,
  FieldRecordList,
  FieldSecret,
  FieldSelect,
  FieldString,
  type ItemDeclaration,
  isSecret,
} from './config-declaration.js'
import {
  elementPrefix,
  fieldsByKey,
  type KeyPlace,
  keyLocator,
  readRecordList,
  readRoster,
  storedText,
} from './config-keys.js'
import type { ModuleDeclaration } from './module-declaration.js'
import {
  encryptedProblem,
  isSealedText,
  type Reading,
  readStored,
  readValue,
  type Scalar,
  type ValueDeclaration,
  type ValueProblem,
  valueProblem,
} from './stored-value.js'

/** The type of the value of each field type. A duration is milliseconds. */
interface Readings {
  FieldString: string
  FieldSecret: string
  FieldBool: boolean
  FieldInt: number
  FieldDuration: number
}

type Declared = FieldDeclaration | ItemDeclaration

type Typed<D extends Declared> = D extends { readonly options: readonly (infer Option)[] }
  ? Option
  : D extends { readonly type: keyof Readings }
    ? Readings[D['type']]
    : string

/** Texts and switches always have a value. Other fields without a default may read as null. */
type AlwaysSet =
  | { readonly type: 'FieldString' | 'FieldSecret' | 'FieldBool' }
  | { readonly default: string }

type Read<D extends Declared> = D extends AlwaysSet ? Typed<D> : Typed<D> | null

/** One element of a record list: its slug, its label, and each sub-field by its key. */
export type ElementValues<Items extends readonly ItemDeclaration[]> = {
  readonly slug: string
  readonly label: string
} & { readonly [Item in Items[number] as Item['key']]: Read<Item> }

type FieldValue<D extends FieldDeclaration> = D extends {
  readonly type: 'FieldRecordList'
  readonly items: infer Items extends readonly ItemDeclaration[]
}
  ? readonly ElementValues<Items>[]
  : Read<D>

/** The values of a list of fields, by key. */
export type FieldValues<Fields extends readonly FieldDeclaration[]> = {
  readonly [Field in Fields[number] as Field['key']]: FieldValue<Field>
}

type Values = Readonly<Record<string, string>>
type Warn = (message: string) => void

type Fielded<Fields extends readonly FieldDeclaration[]> = Pick<
  ModuleDeclaration<Fields>,
  'name' | 'fields'
>

/**
 * The typed values of a module, read from the flat map of stored texts with secrets decrypted. Never
 * throws. An absent or empty text reads as the default, without one as '', false or null. A value out
 * of range reads as the nearest allowed one, and an unreadable text as absent; both are reported to
 * `warn`, without the value, which may be a secret.
 */
export function readModule<const Fields extends readonly FieldDeclaration[]>(
  values: Values,
  module: Fielded<Fields>,
  warn: Warn = () => undefined,
): FieldValues<Fields> {
  const read = module.fields.map((field) => [
    field.key,
    field.type === FieldRecordList
      ? readElements(field, values, module.name, warn)
      : readScalar(reader(field, field.default ?? ''), storedText(values, field.key), (problem) =>
          warn(`Setting "${module.name}.${field.key}" ${problem}`),
        ),
  ])
  // The keys and types are those of the declarations, which a map of them cannot show.
  return Object.fromEntries(read) as FieldValues<Fields>
}

/** What is the same of a field in every element. */
interface Reader {
  readonly declaration: ValueDeclaration
  readonly initial: Scalar
}

function reader(declaration: ValueDeclaration, usual: string): Reader {
  const initial = usual === '' ? null : parse(declaration, usual)
  return { declaration, initial: initial?.value ?? unset(declaration) }
}

function readElements(field: FieldDeclaration, values: Values, module: string, warn: Warn) {
  const items = (field.items ?? []).map((item) => ({ key: item.key, ...reader(item, '') }))
  return readRecordList(field, values).map((texts) => {
    const { slug, label } = texts
    const element: Record<string, Scalar> = {}
    for (const item of items) {
      const { key } = item
      const text = texts[key] ?? ''
      element[key] =
        plainValue(item, text) ??
        readScalar(item, text, (problem) =>
          warn(`Setting "${module}.${field.key}.${slug}.${key}" ${problem}`),
        )
    }
    // Last, whatever the sub-fields are called.
    element['slug'] = slug
    element['label'] = label
    return element
  })
}

/** The value of a text that reads as it stands, which nearly all do; null for any other text. */
function plainValue({ declaration }: Reader, stored: string): Scalar {
  const reading = stored === '' ? null : parse(declaration, stored)
  return reading?.inRange ? reading.value : null
}

function readScalar({ declaration, initial }: Reader, stored: string, warn: Warn): Scalar {
  return readStored(
    stored,
    (text) => parse(declaration, text),
    initial,
    (problem) =>
      warn(
        problem === 'out of range'
          ? 'is out of range; the nearest allowed value is used.'
          : 'cannot be read; it counts as not set.',
      ),
  )
}

/** Cutting a secret to length would make another secret of it. */
function parse(declaration: ValueDeclaration, text: string): Reading<Scalar> | null {
  const isText = declaration.type === FieldSecret || declaration.type === FieldString
  return isText && isSecret(declaration)
    ? { value: text, inRange: true }
    : readValue(declaration, text)
}

function unset({ type }: ValueDeclaration): Scalar {
  if (type === FieldBool) return false
  return type === FieldInt || type === FieldDuration || type === FieldSelect ? null : ''
}

/** The values that a patch would leave. */
export interface PatchedValues {
  /** The module's name, with which codes begin. */
  readonly module: string
  readonly declarations: readonly FieldDeclaration[]
  /** The map before the patch. Elements in its rosters are not new. */
  readonly before: Readonly<Record<string, string>>
  /** The whole next map. Secrets that `changed` does not name may be encrypted. */
  readonly values: Readonly<Record<string, string>>
  /** The keys whose text the patch sets, including rosters: `changed` of the plan. */
  readonly changed: readonly string[]
}

/** Judges the text of a field outside record lists; null for a text that is fine. */
export type FieldRule = (field: FieldDeclaration, text: string) => ValueProblem | null

/**
 * The error of the first value that its declaration refuses, else of the first required sub-field
 * that is missing in an element the patch touches; null for a patch without either. Its code is
 * `<module>.value_malformed` for a text of another type, `<module>.value_out_of_range` or
 * `<module>.value_required`. Values
 * that the patch does not touch are not checked, so one damaged value cannot block every other edit.
 */
export function checkValues(
  patched: PatchedValues,
  rule: FieldRule = valueProblem,
): ConfigValidationError | null {
  const locate = keyLocator(fieldsByKey(patched.declarations))
  const touched: Touched[] = []
  for (const key of patched.changed) {
    const place = locate(key)
    if (place === null) continue
    const problem = placeProblem(place, storedText(patched.values, key), rule)
    if (problem !== null) return refusal(patched.module, key, problem)
    if (place.kind === 'roster') touched.push(...created(place.field, patched))
    // Keys of one element mostly stand together; one that is met again is only judged again.
    else if (place.kind === 'element' && !isLast(touched, place)) touched.push(place)
  }
  for (const { field, slug } of touched) {
    const prefix = elementPrefix(field.key, slug)
    const item = missingItem(field, prefix, patched.values)
    if (item !== undefined) {
      return refusal(patched.module, prefix + item.key, {
        code: 'value_required',
        problem: 'is required and must not be empty',
      })
    }
  }
  return null
}

/** An element that a patch creates or edits. */
interface Touched {
  readonly field: FieldDeclaration
  readonly slug: string
}

function isLast(touched: readonly Touched[], { field, slug }: Touched): boolean {
  const last = touched.at(-1)
  return last?.slug === slug && last.field === field
}

function created(field: FieldDeclaration, { before, values }: PatchedValues): readonly Touched[] {
  const old = new Set(readRoster(field.key, before))
  return readRoster(field.key, values)
    .filter((slug) => !old.has(slug))
    .map((slug) => ({ field, slug }))
}

function placeProblem(place: KeyPlace, text: string, rule: FieldRule): ValueProblem | null {
  if (place.kind === 'roster') return null
  // Before any rule of a module: such a text would be taken for a secret.
  if (isSealedText(text)) return encryptedProblem
  if (place.kind === 'field') return rule(place.field, text)
  return place.item === null ? labelProblem(text) : valueProblem(place.item, text)
}

const maxLabel = 200

function labelProblem(text: string): ValueProblem | null {
  if (/[\p{Cc}\p{Cs}]/u.test(text)) {
    return {
      code: 'value_malformed',
      problem: 'must not contain control characters or broken Unicode',
    }
  }
  return text.length <= maxLabel
    ? null
    : { code: 'value_out_of_range', problem: `must be text of at most ${maxLabel} characters` }
}

function missingItem(
  { items = [] }: FieldDeclaration,
  prefix: string,
  values: Readonly<Record<string, string>>,
): ItemDeclaration | undefined {
  return items.find(
    (item) =>
      item.required === true &&
      storedText(values, prefix + item.key) === '' &&
      conditionHolds(item, items, prefix, values),
  )
}

function conditionHolds(
  { condition }: ItemDeclaration,
  siblings: readonly ItemDeclaration[],
  prefix: string,
  values: Readonly<Record<string, string>>,
): boolean {
  if (condition === undefined) return true
  const sibling = siblings.find(({ key }) => key === condition.field)
  const stored = storedText(values, prefix + condition.field)
  // A switch that was never set is off.
  const text = stored === '' && sibling?.type === FieldBool ? 'false' : stored
  if (text === condition.equals || sibling === undefined) return text === condition.equals
  // Such as '60s' and '1m'.
  const wanted = readValue(sibling, condition.equals)
  return wanted !== null && wanted.value === readValue(sibling, text)?.value
}

function refusal(module: string, key: string, { code, problem }: ValueProblem) {
  return new ConfigValidationError(key, `"${key}" ${problem}.`, `${module}.${code}`)
}

/** A first value that its field cannot hold. */
export interface RefusedFirstValue {
  readonly field: FieldDeclaration
  /** The second half of a sentence. Never repeats the text, which may be a secret. */
  readonly problem: string
}

/** First values, of which `usable` may be stored and `refused` may not. */
export interface JudgedFirstValues {
  readonly usable: Readonly<Record<string, string>>
  readonly refused: readonly RefusedFirstValue[]
}

/** Judges the first values of fields by `rule`. What lies below a record list was judged where it was given. */
export function judgeFirstValues(
  texts: Readonly<Record<string, string>>,
  fields: readonly FieldDeclaration[],
  rule: FieldRule,
): JudgedFirstValues {
  const refused = fields.flatMap((field): RefusedFirstValue[] => {
    const text = field.type === FieldRecordList ? '' : storedText(texts, field.key)
    const found = rule(field, text)
    return found === null ? [] : [{ field, problem: found.problem }]
  })
  const bad = new Set(refused.map(({ field }) => field.key))
  const usable = Object.fromEntries(Object.entries(texts).filter(([key]) => !bad.has(key)))
  return { usable, refused }
}

/**
 * The values of a module, frozen, its record lists and their elements too. To read a secret that does
 * not decrypt throws what `refuse` throws: it is neither empty nor its default.
 */
export function guardedValues<T extends object>(
  values: T,
  unreadable: readonly string[],
  refuse: (key: string) => never,
): Readonly<T> {
  function guard<Target extends object>(target: Target, prefix: string): Readonly<Target> {
    for (const key of unreadable) {
      const name = key.slice(prefix.length)
      if (!key.startsWith(prefix) || !Object.hasOwn(target, name)) continue
      Object.defineProperty(target, name, { enumerable: true, get: () => refuse(key) })
    }
    return Object.freeze(target)
  }

  const guarded = { ...values }
  const members: [string, unknown][] = Object.entries(values)
  for (const [key, value] of members) {
    if (!Array.isArray(value)) continue
    const elements = value.map((element: { readonly slug: string }) =>
      guard({ ...element }, `${key}.${element.slug}.`),
    )
    Object.assign(guarded, { [key]: Object.freeze(elements) })
  }
  return guard(guarded, '')
}
