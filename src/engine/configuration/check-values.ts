import { ConfigValidationError } from '../../errors/index.js'
import { FieldBool, type FieldDeclaration, type ItemDeclaration } from './config-declaration.js'
import {
  elementPrefix,
  fieldsByKey,
  type KeyPlace,
  keyLocator,
  readRoster,
  storedText,
} from './config-keys.js'
import { isSealedText } from './sealed-text.js'
import { encryptedProblem, readValue, type ValueProblem, valueProblem } from './stored-value.js'

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
