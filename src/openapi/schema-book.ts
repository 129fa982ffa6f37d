import * as z from 'zod/mini'
import { type JSONSchema, toJSONSchema } from 'zod/v4/core'
import { withInputRules } from './input-rules.js'
import type { JsonSchema } from './types.js'

/** Turns schemas of the table into JSON Schema, and collects the named ones as components. */
export interface SchemaBook {
  /** What callers send to an operation, by its id. Members that are not named are refused. */
  received(schema: z.ZodMiniType, operationId: string): JsonSchema
  /** What they get. Members that are not named may come with any release. */
  sent(schema: z.ZodMiniType): JsonSchema
  /** By name, all that were met so far. */
  readonly components: ReadonlyMap<string, JsonSchema>
}

export function schemaBook(names: Readonly<Record<string, z.ZodMiniType>>): SchemaBook {
  const metadata = z.registry<{ readonly id: string }>()
  for (const [id, schema] of Object.entries(names)) metadata.add(schema, { id })
  const components = new Map<string, JsonSchema>()

  function convert(
    schema: z.ZodMiniType,
    io: 'input' | 'output',
    finish: (schema: JsonSchema) => JsonSchema,
  ): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...root
    } = toJSONSchema(schema, {
      io,
      metadata,
      override: ({ jsonSchema }) => tidy(jsonSchema, io),
    })
    for (const [name, definition] of Object.entries($defs)) {
      components.set(name, finish(withComponentReferences(definition)))
    }
    return finish(withComponentReferences(root))
  }

  return {
    received: (schema, operationId) =>
      convert(schema, 'input', (received) => withInputRules(received, operationId)),
    sent: (schema) => convert(schema, 'output', (sent) => sent),
    components,
  }
}

/** Removes keywords that say nothing about the wire, or that readers cannot use. */
function tidy(schema: JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  // Readonly in the code; in OpenAPI it would mean that requests leave it out.
  delete schema.readOnly
  if (schema.format === 'date-time') delete schema.pattern
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.enum !== undefined || schema.const !== undefined) delete schema.type
  if (schema.propertyNames !== undefined) delete schema.propertyNames
  if (io === 'output' && schema.additionalProperties === false) delete schema.additionalProperties
}

/** Zod puts named schemas into `$defs`; a document has them among its components. */
function withComponentReferences(value: object): JsonSchema {
  const text = JSON.stringify(value)
  return JSON.parse(text.replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'))
}
