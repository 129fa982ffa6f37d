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

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is wrong with the types of a field's members; empty for a declaration of the right shape. */
export function fieldShapeProblems(field: Members): readonly string[] {
  return [
    ...shapeProblems(field, fieldMembers),
    ...alienProblems(field, ofItemsAlone, 'a sub-field of a record list'),
  ]
}

/** The same of a sub-field. */
export function itemShapeProblems(item: Members): readonly string[] {
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
