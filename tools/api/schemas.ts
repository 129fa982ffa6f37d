import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiResponse,
} from '../../src/openapi/types.js'
import type { Operation } from '../../src/operations/operation.js'

/** A row of the table, and what the OpenAPI document says of it. */
export interface DescribedOperation {
  readonly row: Operation
  /** The paths it is served at, those that only choose a surface included. */
  readonly paths: readonly string[]
  /** At the first of them; the others are alike. */
  readonly operation: OpenApiOperation
  /** The answer that is no refusal. */
  readonly answer: OpenApiResponse
}

export function describeOperations(
  operations: readonly Operation[],
  document: OpenApiDocument,
): readonly DescribedOperation[] {
  return operations.map((row) => {
    const own = row.surfaces.map((surface) => row.path.replace('{surface}', surface))
    const [first = ''] = own
    const item = Object.entries(document.paths[first] ?? {})
    const operation = item.find(([method]) => method === row.method.toLowerCase())?.[1]
    const answer = operation?.responses[String(row.status)]
    if (operation === undefined || answer === undefined || '$ref' in answer) {
      throw new Error(`the document does not describe ${row.id}`)
    }
    const paths = row.unprefixedPath === undefined ? own : [...own, row.unprefixedPath]
    return { row, paths, operation, answer }
  })
}

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

/** The alternatives of a union; none for any other schema. */
function unionOf(schema: JsonSchema): readonly JsonSchema[] {
  const union = schema['anyOf'] ?? schema['oneOf']
  return Array.isArray(union) ? union.filter(isSchema) : []
}

interface Property {
  readonly name: string
  readonly value: JsonSchema
  readonly required: boolean
}

function propertiesOf({ properties, required }: JsonSchema): readonly Property[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(isSchema(properties) ? properties : {}).flatMap(([name, value]) =>
    isSchema(value) ? [{ name, value, required: needed.includes(name) }] : [],
  )
}

/** The name of the shape that a schema refers to; null for any other schema. */
export function shapeOf({ $ref }: JsonSchema): string | null {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : null
}

/** A type in the manner of TypeScript, with what bounds its values. */
export function typeText(schema: JsonSchema): string {
  const { const: constant, enum: values, type } = schema
  const union = unionOf(schema)
  const name = shapeOf(schema)
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
  return propertiesOf(schema).flatMap(({ name, value, required }) => {
    const path = `${prefix}${name}`
    return [{ path, required, type: typeText(value) }, ...innerMembers(value, path)]
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
  const union = unionOf(schema)
  const forms = union.length > 0 ? union : [schema]
  return forms.map((form) => {
    const name = shapeOf(form)
    if (name !== null) return { label: name, members: null }
    return { label: forms.length > 1 ? distinction(form) : '', members: membersOf(form) }
  })
}

/** `status: "verified"`, or the names of the members where none has but one value. */
function distinction(schema: JsonSchema): string {
  const members = propertiesOf(schema)
  const fixed = members.find(({ name, value }) => name !== 'tokenType' && value['const'])
  if (fixed === undefined) return members.map(({ name }) => name).join(', ')
  const more = members.some(({ name }) => name === 'refreshToken') ? ', refreshToken' : ''
  return `${fixed.name}: ${JSON.stringify(fixed.value['const'])}${more}`
}

/** A JSON Schema as a type of TypeScript. Throws for what the operation table does not use. */
export function typeScriptOf(schema: JsonSchema): string {
  const { const: constant, enum: values, type, items } = schema
  const name = shapeOf(schema)
  if (name !== null) return name
  if ('const' in schema) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  if ('anyOf' in schema || 'oneOf' in schema) return unionOf(schema).map(typeScriptOf).join(' | ')
  if (Array.isArray(type)) {
    return type.map((one) => typeScriptOf({ ...schema, type: one })).join(' | ')
  }
  if (type === 'array') return `readonly (${isSchema(items) ? typeScriptOf(items) : 'unknown'})[]`
  if (type === 'object') return objectType(schema)
  if (type === 'integer') return 'number'
  if (typeof type === 'string') return type
  if (Object.keys(schema).length === 0) return 'unknown'
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

function objectType(schema: JsonSchema): string {
  const { additionalProperties } = schema
  const members = memberTexts(schema)
  const others = isSchema(additionalProperties) ? typeScriptOf(additionalProperties) : null
  if (members.length === 0) return `Readonly<Record<string, ${others ?? 'never'}>>`
  const open = others === null ? [] : [`readonly [name: string]: ${others}`]
  return `{ ${[...members, ...open].join('; ')} }`
}

/** `readonly name?: string`, for each member. */
export function memberTexts(schema: JsonSchema): readonly string[] {
  return propertiesOf(schema).map(({ name, value, required }) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `readonly ${key}${required ? '' : '?'}: ${typeScriptOf(value)}`
  })
}

/** A text that callers send. */
export interface SentText {
  /** The id of the operation in the table. */
  readonly operation: string
  /** The name of the member, or of the parameter with its place: `name in the path`. */
  readonly name: string
  /** What it has to be, in words; empty where the document has none. */
  readonly rule: string
  readonly schema: JsonSchema
}

const places: Readonly<Record<string, string>> = {
  path: ' in the path',
  cookie: ' as a cookie',
  header: ' as a header',
}

/** Every text in what the operations take. */
export function sentTexts(
  operations: readonly DescribedOperation[],
  document: OpenApiDocument,
): readonly SentText[] {
  const schemas: Readonly<Record<string, JsonSchema>> = document.components.schemas
  return operations.flatMap(({ row, operation: { parameters = [], requestBody } }) => {
    const outside = parameters.flatMap(({ name, in: where, description = '', schema }) =>
      textsIn(schema, `${name}${places[where] ?? ''}`, schemas).map((text) => ({
        ...text,
        rule: text.rule || description,
      })),
    )
    const inside = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) =>
      textsIn(schema, '*', schemas),
    )
    return [...outside, ...inside].map((text) => ({ operation: row.id, ...text }))
  })
}

function textsIn(
  schema: JsonSchema,
  name: string,
  schemas: Readonly<Record<string, JsonSchema>>,
): readonly Omit<SentText, 'operation'>[] {
  const { description, items, additionalProperties } = schema
  const named = schemas[shapeOf(schema) ?? '']
  if (named !== undefined) return textsIn(named, name, schemas)
  const isText = [schema['type']].flat().includes('string')
  const own = isText ? [{ name, rule: String(description ?? ''), schema }] : []
  const unnamed = [items, additionalProperties].filter(isSchema)
  return [
    ...own,
    ...propertiesOf(schema).flatMap((member) => textsIn(member.value, member.name, schemas)),
    ...[...unnamed, ...unionOf(schema)].flatMap((one) => textsIn(one, name, schemas)),
  ]
}

/** A row for each rule, with the members it is for; a name with several rules has its operations beside it. */
export function ruleRows(texts: readonly SentText[]): readonly (readonly [string, string])[] {
  const isShared = (name: string) =>
    new Set(texts.filter((text) => text.name === name).map(({ rule }) => rule)).size > 1
  const rules = new Set(texts.map(({ rule }) => rule).filter(Boolean))
  return [...rules].map((rule) => {
    const own = texts.filter((text) => text.rule === rule)
    const names = own.map(({ name, operation }) => {
      const [member = '', place] = name.split(/ (?=in|as)/)
      const shown = place === undefined ? `\`${member}\`` : `\`${member}\` ${place}`
      return isShared(name) ? `${shown} of ${operation}` : shown
    })
    return [[...new Set(names)].join(', '), rule]
  })
}
