import type { JsonSchema } from '../../src/openapi/types.js'

/** A member of an object, by its path from there: `user.id`, `items[].name`. */
export interface Member {
  readonly path: string
  readonly required: boolean
  readonly type: string
}

/** One of the forms that a body can have. */
export interface Variant {
  /** The name of its shape, where it has one, else what tells it from the others. */
  readonly label: string
  /** Null for a shape with a name, which is described once for all. */
  readonly members: readonly Member[] | null
}

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function schemasOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value.filter(isSchema) : []
}

function propertiesOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  const { properties } = schema
  if (!isSchema(properties)) return []
  return Object.entries(properties).flatMap(([name, value]) =>
    isSchema(value) ? [[name, value] as const] : [],
  )
}

/** The name of the shape that a schema refers to; null for any other schema. */
function nameOf({ $ref }: JsonSchema): string | null {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null
}

/** A type in the manner of TypeScript, with what bounds its values. */
export function typeText(schema: JsonSchema): string {
  const { const: constant, enum: values, type } = schema
  const union = schemasOf(schema['anyOf'] ?? schema['oneOf'])
  const name = nameOf(schema)
  if (name !== null) return name
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (union.length > 0) return union.map(typeText).join(' | ')
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one })).join(' | ')
  if (type === 'string') return `string${bounds(schema)}`
  if (type === 'array') return arrayText(schema)
  if (type === 'object') return objectText(schema)
  return typeof type === 'string' ? type : 'any'
}

function bounds({ minLength = 0, maxLength, pattern, format }: JsonSchema): string {
  const length = maxLength === undefined ? '' : ` of ${minLength} to ${maxLength} characters`
  const least = maxLength === undefined && minLength !== 0 ? ' that is not empty' : ''
  const form = typeof pattern === 'string' ? ` like ${pattern}` : ''
  return `${length}${least}${form}${typeof format === 'string' ? ` (${format})` : ''}`
}

function arrayText({ items, maxItems }: JsonSchema): string {
  const item = isSchema(items) ? typeText(items) : 'any'
  const list = item.includes(' ') ? `(${item})[]` : `${item}[]`
  return maxItems === undefined ? list : `${list} of at most ${maxItems}`
}

function objectText({ properties, additionalProperties }: JsonSchema): string {
  const isMap = properties === undefined && isSchema(additionalProperties)
  return isMap ? `object of any name: ${typeText(additionalProperties)}` : 'object'
}

/** The members of an object, and of the objects within it that have no name. */
export function membersOf(schema: JsonSchema, prefix = ''): readonly Member[] {
  const { required } = schema
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return propertiesOf(schema).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    const own = { path, required: needed.includes(name), type: typeText(value) }
    return [own, ...innerMembers(value, path)]
  })
}

function innerMembers(value: JsonSchema, path: string): readonly Member[] {
  const { items, additionalProperties } = value
  if (isSchema(items)) return innerMembers(items, `${path}[]`)
  const isOpen = value['properties'] !== undefined && isSchema(additionalProperties)
  const any = isOpen
    ? [{ path: `${path}.*`, required: false, type: typeText(additionalProperties) }]
    : []
  return [...membersOf(value, `${path}.`), ...any]
}

/** The forms of a body: several for a union, else one. */
export function variantsOf(schema: JsonSchema): readonly Variant[] {
  const union = schemasOf(schema['anyOf'] ?? schema['oneOf'])
  const forms = union.length > 0 ? union : [schema]
  return forms.map((form) => {
    const name = nameOf(form)
    if (name !== null) return { label: name, members: null }
    return { label: forms.length > 1 ? distinction(form) : '', members: membersOf(form) }
  })
}

/** `status: "verified"`, or the names of the members where none has but one value. */
function distinction(schema: JsonSchema): string {
  const members = propertiesOf(schema)
  const fixed = members.find(([name, { const: value }]) => name !== 'tokenType' && value)
  if (fixed === undefined) return members.map(([name]) => name).join(', ')
  const [name, { const: value }] = fixed
  const more = members.some(([other]) => other === 'refreshToken') ? ', refreshToken' : ''
  return `${name}: ${JSON.stringify(value)}${more}`
}
