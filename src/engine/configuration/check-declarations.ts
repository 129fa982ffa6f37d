import type { DeclarationProblem } from '../../errors/index.js'
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
import { expectedForm, type ValueDeclaration, valueProblem } from './stored-value.js'

const types: readonly string[] = [
  ...[FieldString, FieldSecret, FieldBool, FieldInt, FieldDuration, FieldSelect, FieldRecordList],
]

/** No dot, comma or bar: keys are joined by dots, rosters by commas, the places of secrets by bars. */
const keyForm = /^[A-Za-z_][A-Za-z0-9_]*$/

/** What an element has beside its sub-fields. */
const elementMembers = ['slug', 'label']

/** All problems of a list of declarations; empty for a correct list. Never throws. */
export function checkDeclarations(
  declarations: readonly FieldDeclaration[],
): readonly DeclarationProblem[] {
  const twice = repeated(declarations.map(({ key }) => key))
  return [
    ...twice.map((key) => ({ field: key, problem: 'is declared twice; keep one of them' })),
    ...declarations.flatMap(fieldProblems),
  ]
}

function fieldProblems(field: FieldDeclaration): readonly DeclarationProblem[] {
  const problems = [
    ...keyProblems(field.key),
    ...typeProblems(field),
    ...defaultProblems(field),
    ...(field.type === FieldRecordList ? listProblems(field) : itemsProblems(field)),
  ]
  const items = field.type === FieldRecordList ? (field.items ?? []) : []
  return [
    ...problems.map((problem) => ({ field: field.key, problem })),
    ...repeated(items.map(({ key }) => key)).map((key) => ({
      field: `${field.key}.${key}`,
      problem: 'is declared twice; keep one of them',
    })),
    ...items.flatMap((item) =>
      itemProblems(item, items).map((problem) => ({ field: `${field.key}.${item.key}`, problem })),
    ),
  ]
}

function keyProblems(key: string): readonly string[] {
  if (typeof key === 'string' && key.startsWith('__')) {
    return ['begins with "__", which is reserved; choose another key']
  }
  return keyForm.test(key)
    ? []
    : ['has a key that is not letters, digits and underscores, with a letter first; rename it']
}

function typeProblems(declaration: ValueDeclaration): readonly string[] {
  const { type, min, max, options } = declaration
  if (!types.includes(type)) return [`has an unknown type; use one of ${types.join(', ')}`]
  const numbers = [min, max].filter((bound) => bound !== undefined)
  return [
    ...(numbers.every(Number.isSafeInteger)
      ? []
      : ['has a "min" or "max" that is no whole number']),
    ...(min !== undefined && max !== undefined && min > max ? ['has a "min" above its "max"'] : []),
    ...(type === FieldSelect ? optionProblems(options) : []),
    ...(type !== FieldSelect && options !== undefined
      ? ['has "options", which only a FieldSelect may have; remove them']
      : []),
    ...(type !== FieldInt && numbers.some((bound) => bound < 0)
      ? ['has a "min" or "max" below 0; only a FieldInt may']
      : []),
  ]
}

function optionProblems(options: readonly string[] | undefined): readonly string[] {
  if (!Array.isArray(options) || options.length === 0) {
    return ['is a FieldSelect without "options"; list the values it may take']
  }
  const usable = options.every((option) => typeof option === 'string' && option !== '')
  if (!usable) return ['has an option that is empty or no text; an empty value means "not set"']
  return repeated(options).map((option) => `has the option "${option}" twice`)
}

function defaultProblems(field: FieldDeclaration): readonly string[] {
  const { default: usual, type } = field
  if (usual === undefined || usual === '' || !types.includes(type)) return []
  if (isSecret(field)) {
    return ['is secret and has a default, which everybody could read; remove the default']
  }
  const wrong = type === FieldRecordList || valueProblem(field, usual) !== null
  return wrong ? [`has a default that its own rule refuses: it ${expectedForm(field)}`] : []
}

function listProblems({ items, secret, envVar }: FieldDeclaration): readonly string[] {
  return [
    ...(Array.isArray(items) && items.length > 0
      ? []
      : ['is a FieldRecordList without "items"; declare its sub-fields there']),
    ...(secret ? ['is a record list marked secret; make its secret sub-fields FieldSecret'] : []),
    ...(envVar === undefined
      ? []
      : ['is a record list with an "envVar", which can hold no list; remove it']),
  ]
}

function itemsProblems({ items }: FieldDeclaration): readonly string[] {
  return items === undefined || items === null
    ? []
    : ['has "items", which only a FieldRecordList may have; remove them']
}

function itemProblems(
  item: ItemDeclaration,
  siblings: readonly ItemDeclaration[],
): readonly string[] {
  if (item.type === FieldRecordList) return ['is a record list inside another; only fields may be']
  return [
    ...keyProblems(item.key),
    ...(elementMembers.includes(item.key)
      ? [`has a key that every element has already; choose another than "slug" and "label"`]
      : []),
    ...typeProblems(item),
    ...conditionProblems(item, siblings),
    ...('items' in item && item.items !== undefined
      ? ['has "items", which only a FieldRecordList may have; remove them']
      : []),
  ]
}

function conditionProblems(
  { key, condition }: ItemDeclaration,
  siblings: readonly ItemDeclaration[],
): readonly string[] {
  if (condition === undefined) return []
  const sibling = siblings.find((one) => one.key === condition.field)
  if (sibling === undefined || sibling.key === key) {
    return [
      `has a condition on "${condition.field}"; it may name another sub-field of the same list only`,
    ]
  }
  return condition.equals !== '' && valueProblem(sibling, condition.equals) !== null
    ? [`has a condition that "${sibling.key}" can never meet: that ${expectedForm(sibling)}`]
    : []
}

function repeated(keys: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return [...new Set(keys.filter((key) => seen.size === seen.add(key).size))]
}
