import type { JsonSchema } from '../../src/openapi/types.js'

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON Schema as a type of TypeScript. Throws for what the operation table does not use. */
export function typeScriptOf(schema: JsonSchema): string {
  const { $ref, const: constant, enum: values, type } = schema
  const union = schema['anyOf'] ?? schema['oneOf']
  if (typeof $ref === 'string') return $ref.slice($ref.lastIndexOf('/') + 1)
  if ('const' in schema) return JSON.stringify(constant)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(union)) return union.filter(isSchema).map(typeScriptOf).join(' | ')
  if (Array.isArray(type)) {
    return type.map((one) => typeScriptOf({ ...schema, type: one })).join(' | ')
  }
  if (type === 'array') return arrayType(schema)
  if (type === 'object') return objectType(schema)
  if (type === 'integer') return 'number'
  if (typeof type === 'string') return type
  if (Object.keys(schema).length === 0) return 'unknown'
  throw new Error(`no type for ${JSON.stringify(schema)}`)
}

function arrayType({ items }: JsonSchema): string {
  const item = isSchema(items) ? typeScriptOf(items) : 'unknown'
  return `readonly (${item})[]`
}

function objectType(schema: JsonSchema): string {
  const { additionalProperties } = schema
  const members = memberTexts(schema)
  const others = isSchema(additionalProperties) ? typeScriptOf(additionalProperties) : null
  if (members.length > 0) {
    const open = others === null ? [] : [`readonly [name: string]: ${others}`]
    return `{ ${[...members, ...open].join('; ')} }`
  }
  return `Readonly<Record<string, ${others ?? 'never'}>>`
}

/** `readonly name?: string`, for each member. */
export function memberTexts({ properties, required }: JsonSchema): readonly string[] {
  const needed: readonly unknown[] = Array.isArray(required) ? required : []
  if (!isSchema(properties)) return []
  return Object.entries(properties).map(([name, value]) => {
    const key = /^\w+$/.test(name) ? name : JSON.stringify(name)
    return `readonly ${key}${needed.includes(name) ? '' : '?'}: ${isSchema(value) ? typeScriptOf(value) : 'unknown'}`
  })
}
