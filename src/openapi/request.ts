import * as z from 'zod/mini'
import type { Operation } from '../operations/operation.js'
import { cookieNameOf } from './credentials.js'
import { ruleOfParameter } from './input-rules.js'
import type { SchemaBook } from './schema-book.js'
import type { CookiePrefix, JsonSchema, OpenApiParameter, OpenApiRequestBody } from './types.js'

const condition = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of a reply that is still there; 304 if it would be the same.',
  schema: { type: 'string' },
} as const

/** The parameters of an operation in path, query, headers and cookies. */
export function parametersOf(
  operation: Operation,
  surfaces: Operation['surfaces'],
  prefix: CookiePrefix,
  schemas: SchemaBook,
): readonly OpenApiParameter[] {
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const inPath = names
    .filter((name) => name !== 'surface')
    .map((name) => {
      const rule = ruleOfParameter('path', name)
      return { name, in: 'path', ...rule, required: true, schema: { type: 'string' } } as const
    })
  const delivery = { const: 'body' }
  const inHeader = {
    name: 'X-Token-Delivery',
    in: 'header',
    description: '`body` puts tokens into the body of the reply in place of cookies.',
    schema: delivery,
  } as const
  const reads = (operation.cookies?.reads ?? []).filter(
    // Where it is the credential it is among the security schemes.
    (what) => what !== 'refresh' || !operation.usesRefreshCookie,
  )
  const inCookies = surfaces.flatMap((surface) =>
    reads.map(
      (what) =>
        ({
          name: cookieNameOf(prefix, surface, what),
          in: 'cookie',
          ...ruleOfParameter('cookie', what),
          schema: { type: 'string' },
        }) as const,
    ),
  )
  return [
    ...inPath,
    ...queryParameters(operation, schemas),
    ...(operation.choosesDelivery ? [inHeader] : []),
    ...(operation.revalidates ? [condition] : []),
    ...inCookies,
  ]
}

function queryParameters(operation: Operation, schemas: SchemaBook): readonly OpenApiParameter[] {
  if (operation.query === undefined) return []
  const { properties, required, additionalProperties } = objectSchema(
    schemas.received(operation.query, operation.id),
  )
  const named = Object.entries(properties).map(
    ([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }) as const,
  )
  if (typeof additionalProperties !== 'object') return named
  // Each member of the object is one of the query (`form`, exploded, which is the default).
  const schema = { type: 'object', additionalProperties }
  return [...named, { name: 'parameters', in: 'query', schema }]
}

const looseObject = z.object({
  properties: z._default(z.record(z.string(), z.record(z.string(), z.unknown())), {}),
  required: z._default(z.array(z.string()), []),
  additionalProperties: z.unknown(),
})

function objectSchema(schema: JsonSchema) {
  return looseObject.parse(schema)
}

/** Undefined for an operation without a body. */
export function requestBodyOf(
  operation: Operation,
  schemas: SchemaBook,
): OpenApiRequestBody | undefined {
  if (operation.method === 'GET') return undefined
  const schema = schemas.received(operation.body, operation.id)
  const isNothing = JSON.stringify(schema['properties']) === '{}'
  if (isNothing) return undefined
  const type = operation.bodyForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return { required: operation.bodyOptional !== true, content: { [type]: { schema } } }
}
