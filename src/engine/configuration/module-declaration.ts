import { DeclarationError, type DeclarationProblem } from '../../errors/index.js'
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

/** A unit of configuration: its fields, and the environments that each hold values for them. */
export interface ModuleDeclaration<
  Fields extends readonly FieldDeclaration[] = readonly FieldDeclaration[],
> {
  /** Lower-case letters and digits, joined by single hyphens or underscores; at most 63 characters. */
  readonly name: string
  /** At least one, of the form of `name`. The first is active until an operator switches. */
  readonly environments: readonly string[]
  readonly fields: Fields
}

/** Part of a URL, and of the place a secret is bound to. */
const maxName = 63
const nameForm = /^[a-z0-9]+([_-][a-z0-9]+)*$/

/**
 * Throws a `DeclarationError` with everything that is wrong with a module's declaration, whatever a host without types
 * passes as one.
 */
export function assertModule(module: ModuleDeclaration): void {
  const given: unknown = module
  if (!isMembers(given)) {
    const problem = 'is not an object; pass { name, environments, fields }'
    throw new DeclarationError('', [{ field: '', problem }])
  }
  const problems = [
    ...[...nameProblems(given), ...environmentProblems(given), ...validatorProblems(given)].map(
      (problem) => ({ field: '', problem }),
    ),
    ...checkDeclarations(module.fields),
  ]
  const { name } = given
  if (problems.length > 0)
    throw new DeclarationError(typeof name === 'string' ? name : '', problems)
}

const form = 'lower-case letters and digits, joined by single hyphens or underscores'

function nameProblems({ name }: Members): readonly string[] {
  return isName(name) ? [] : [`has a name that is not ${form}, at most ${maxName} characters`]
}

function environmentProblems({ environments }: Members): readonly string[] {
  if (!Array.isArray(environments) || environments.length === 0) {
    return ['has no environments; list one, such as ["production"]']
  }
  const malformed = environments.filter((one: unknown) => !isName(one))
  return [
    ...malformed.map((one) => `has an environment ${JSON.stringify(one)} that is not ${form}`),
    ...(new Set(environments).size < environments.length
      ? ['has an environment twice; keep one of them']
      : []),
  ]
}

function validatorProblems(module: Members): readonly string[] {
  return ['validatePatch', 'validateActivation'].flatMap((name) =>
    module[name] === undefined || typeof module[name] === 'function'
      ? []
      : [`has a "${name}" that is not a function; pass one, or leave it out`],
  )
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && name.length <= maxName && nameForm.test(name)
}

const types: readonly string[] = [
  ...[FieldString, FieldSecret, FieldBool, FieldInt, FieldDuration, FieldSelect, FieldRecordList],
]

/** No dot, comma or bar: keys are joined by dots, rosters by commas, the places of secrets by bars. */
const keyForm = /^[A-Za-z_][A-Za-z0-9_]*$/

/** What an element has beside its sub-fields. */
const elementMembers = ['slug', 'label']

/**
 * All problems of a list of declarations; empty for a correct list. Never throws, whatever a host without types passes.
 * A declaration without a key is named by its place, as `fields[2]`.
 */
export function checkDeclarations(
  declarations: readonly FieldDeclaration[],
): readonly DeclarationProblem[] {
  const given: unknown = declarations
  if (!Array.isArray(given)) {
    return [{ field: '', problem: 'has no array "fields"; list its fields there, [] for none' }]
  }
  return [
    ...repeated(keysOf(given)).map((key) => ({ field: key, problem: twice })),
    ...given.flatMap((field: unknown, index) => fieldProblems(field, `fields[${index}]`)),
  ]
}

const twice = 'is declared twice; keep one of them'
const noObject = 'is not an object; declare its key, label and type there'

function fieldProblems(given: unknown, place: string): readonly DeclarationProblem[] {
  if (!isMembers(given)) return [{ field: place, problem: noObject }]
  const at = nameOf(given, place)
  const shape = fieldShapeProblems(given)
  const own = isShaped<FieldDeclaration>(given, shape) ? ownProblems(given) : shape
  const problems = [...keyProblems(given['key']), ...own]
  const items = given['type'] === FieldRecordList ? elementsOf(given['items']) : []
  return [
    ...problems.map((problem) => ({ field: at, problem })),
    ...repeated(keysOf(items)).map((key) => ({ field: `${at}.${key}`, problem: twice })),
    ...items.flatMap((item, index) => {
      const within = isMembers(item)
        ? `${at}.${nameOf(item, `items[${index}]`)}`
        : `${at}.items[${index}]`
      return itemProblems(item, items).map((problem) => ({ field: within, problem }))
    }),
  ]
}

function ownProblems(field: FieldDeclaration): readonly string[] {
  return [
    ...typeProblems(field),
    ...defaultProblems(field),
    ...(field.type === FieldRecordList ? listProblems(field) : itemsProblems(field)),
  ]
}

/** Whether members are of the right types: these were their problems. */
function isShaped<Declaration>(
  given: Members,
  problems: readonly string[],
): given is Members & Declaration {
  return problems.length === 0
}

function nameOf({ key }: Members, place: string): string {
  return typeof key === 'string' ? key : place
}

function keysOf(declarations: readonly unknown[]): readonly string[] {
  return declarations.flatMap((one) =>
    isMembers(one) && typeof one['key'] === 'string' ? [one['key']] : [],
  )
}

function elementsOf(items: unknown): readonly unknown[] {
  return Array.isArray(items) ? items : []
}

function keyProblems(key: unknown): readonly string[] {
  if (typeof key !== 'string') {
    return ['has no "key" of text; name it by letters, digits and underscores']
  }
  if (key.startsWith('__')) return ['begins with "__", which is reserved; choose another key']
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
    ...(max !== undefined && (min ?? (type === FieldInt ? 0 : max)) > max ? [tooHigh(min)] : []),
    ...(type === FieldSelect ? optionProblems(options) : []),
    ...(type !== FieldSelect && options !== undefined
      ? ['has "options", which only a FieldSelect may have; remove them']
      : []),
    ...(type !== FieldInt && numbers.some((bound) => bound < 0)
      ? ['has a "min" or "max" below 0; only a FieldInt may']
      : []),
  ]
}

/** Without a "min", no value is below 0. */
function tooHigh(min: number | undefined): string {
  return min === undefined
    ? 'has a "max" below 0 and no "min", which is 0 then; give it a "min"'
    : 'has a "min" above its "max"'
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
    return ['is secret and has a default, which is not secret; remove the default']
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

function itemProblems(given: unknown, all: readonly unknown[]): readonly string[] {
  if (!isMembers(given)) return [noObject]
  const { key, type, items } = given
  if (type === FieldRecordList) return ['is a record list inside another; only fields may be']
  const shape = itemShapeProblems(given)
  return [
    ...keyProblems(key),
    ...(elementMembers.some((name) => name === key)
      ? [`has a key that every element has already; choose another than "slug" and "label"`]
      : []),
    ...(isShaped<ItemDeclaration>(given, shape)
      ? [...typeProblems(given), ...conditionProblems(given, all.filter(isMembers))]
      : shape),
    ...(items === undefined
      ? []
      : ['has "items", which only a FieldRecordList may have; remove them']),
  ]
}

function conditionProblems(
  { key, condition }: ItemDeclaration,
  siblings: readonly Members[],
): readonly string[] {
  if (condition === undefined) return []
  const sibling = siblings.find((one) => one['key'] === condition.field)
  if (sibling === undefined || condition.field === key) {
    return [
      `has a condition on "${condition.field}"; it may name another sub-field of the same list only`,
    ]
  }
  // What is wrong with the sibling itself is told of it.
  if (!isShaped<ItemDeclaration>(sibling, itemShapeProblems(sibling))) return []
  if (typeProblems(sibling).length > 0) return []
  // A switch that was never set is off, and not empty.
  const isNever =
    condition.equals === ''
      ? sibling.type === FieldBool
      : valueProblem(sibling, condition.equals) !== null
  return isNever
    ? [`has a condition that "${sibling.key}" can never meet: that ${expectedForm(sibling)}`]
    : []
}

function repeated(keys: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return [...new Set(keys.filter((key) => seen.size === seen.add(key).size))]
}

/** A declaration of a field or sub-field as a host without types may pass it. */
export type Members = Readonly<Record<string, unknown>>

interface Member {
  readonly name: string
  readonly isRequired?: true
  fits(value: unknown): boolean
  /** What it must be, after "that is not". */
  readonly form: string
  readonly remedy: string
}

const isText = (value: unknown): value is string => typeof value === 'string'
const isFilled = (value: unknown): boolean => isText(value) && value !== ''
const isBoolean = (value: unknown): boolean => typeof value === 'boolean'
const filled = 'text of at least one character'

const shared: readonly Member[] = [
  {
    name: 'label',
    isRequired: true,
    fits: isFilled,
    form: filled,
    remedy: 'give the name that an administration page shows',
  },
  { name: 'secret', fits: isBoolean, form: 'true or false', remedy: 'leave it out for false' },
]

const fieldMembers: readonly Member[] = [
  ...shared,
  {
    name: 'group',
    isRequired: true,
    fits: isFilled,
    form: filled,
    remedy: 'give the heading under which an administration page shows the field',
  },
  { name: 'child', fits: isFilled, form: filled, remedy: 'give a subheading, or leave it out' },
  { name: 'envVar', fits: isFilled, form: filled, remedy: 'name a variable, or leave it out' },
  {
    name: 'default',
    fits: isText,
    form: 'text',
    remedy: `write it in stored form, as '25' or 'true', or leave it out`,
  },
  {
    name: 'surface',
    fits: (value) => value === 'operator' || value === 'client' || value === 'both',
    form: `'operator', 'client' or 'both'`,
    remedy: 'use one of them, or leave it out',
  },
]

const itemMembers: readonly Member[] = [
  ...shared,
  { name: 'required', fits: isBoolean, form: 'true or false', remedy: 'leave it out for false' },
  {
    name: 'condition',
    fits: (value) => isMembers(value) && isText(value['field']) && isText(value['equals']),
    form: 'an object { field, equals } of two texts',
    remedy: 'name a sub-field and the value that makes this one required, or leave it out',
  },
]

/** What only a field may have: in a sub-field it would have no effect. */
const ofFieldsAlone = ['default', 'envVar', 'group', 'child', 'surface']

/** What only a sub-field may have: in a field it would have no effect. */
const ofItemsAlone = ['required', 'condition']

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is wrong with the types of a field's members; empty for a declaration of the right shape. */
function fieldShapeProblems(field: Members): readonly string[] {
  return [
    ...shapeProblems(field, fieldMembers),
    ...alienProblems(field, ofItemsAlone, 'a sub-field of a record list'),
  ]
}

/** The same of a sub-field. */
function itemShapeProblems(item: Members): readonly string[] {
  return [...shapeProblems(item, itemMembers), ...alienProblems(item, ofFieldsAlone, 'a field')]
}

function alienProblems(given: Members, names: readonly string[], owner: string): readonly string[] {
  return names
    .filter((name) => given[name] !== undefined)
    .map((name) => `has "${name}", which only ${owner} may have; remove it`)
}

function shapeProblems(given: Members, members: readonly Member[]): readonly string[] {
  return members.flatMap(({ name, isRequired, fits, form, remedy }) => {
    const value = given[name]
    if (value === undefined) return isRequired ? [`has no "${name}"; ${remedy}`] : []
    return fits(value) ? [] : [`has a "${name}" that is not ${form}; ${remedy}`]
  })
}
