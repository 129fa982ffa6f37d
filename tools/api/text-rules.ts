import type { JsonSchema, OpenApiDocument } from '../../src/openapi/types.js'
import type { DescribedOperation } from './described-operation.js'

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

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

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
  const { $ref, description, properties, items, additionalProperties } = schema
  const named =
    typeof $ref === 'string' ? schemas[$ref.slice($ref.lastIndexOf('/') + 1)] : undefined
  if (named !== undefined) return textsIn(named, name, schemas)
  const isText = [schema['type']].flat().includes('string')
  const own = isText ? [{ name, rule: String(description ?? ''), schema }] : []
  const members = isSchema(properties) ? Object.entries(properties) : []
  const unnamed = [items, additionalProperties, schema['anyOf'], schema['oneOf']].flat()
  return [
    ...own,
    ...members.flatMap(([member, one]) => (isSchema(one) ? textsIn(one, member, schemas) : [])),
    ...unnamed.flatMap((one) => (isSchema(one) ? textsIn(one, name, schemas) : [])),
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
