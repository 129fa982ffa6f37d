import * as z from 'zod/mini'
import type { Operation, Tag } from '../operations/operation.js'
import {
  cookieNameOf,
  cookieStems,
  securityOf,
  securitySchemesOf,
  setCookiePattern,
} from './credentials.js'
import { ruleOfParameter } from './input-rules.js'
import { problemResponses, problemSchemas, sharedProblems } from './problems.js'
import { type SchemaBook, schemaBook } from './schema-book.js'
import type {
  CookieNaming,
  JsonSchema,
  OpenApiDocument,
  OpenApiHeader,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiRequestBody,
  OpenApiResponse,
} from './types.js'

type Surface = Operation['surfaces'][number]

export interface DocumentChoices extends CookieNaming {
  /** The surfaces that the host mounts: one, or both. */
  readonly surfaces: readonly Surface[]
  readonly info: OpenApiDocument['info']
  readonly servers: OpenApiDocument['servers']
}

/** A path of an operation: that of a surface, or the unprefixed one. */
interface Route {
  readonly path: string
  readonly operationId: string
  readonly surfaces: readonly Surface[]
}

/** The components: each is described once and referred to. */
interface Shared {
  readonly schemas: SchemaBook
  readonly responses: Map<string, OpenApiResponse>
}

const tagDescriptions: Readonly<Record<Tag, string>> = {
  Authentication: 'Accounts, logins, sessions, passwords, identity providers and keys.',
  MFA: 'Second factors, their proofs, and step-up.',
  WebAuthn: 'Passkeys.',
  'Auth - Device Trust': 'Devices that skip the second factor.',
  'Service Accounts': 'Machines, their credentials and their tokens.',
  Mobile: 'Logins and refreshes of apps, which keep their tokens themselves.',
  'Self-Service': 'One’s own account.',
  'Module Configuration': 'Settings of the library and of the host’s modules.',
}

const methods: Readonly<Record<Operation['method'], OpenApiMethod>> = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
}

/** Describes the operations of a table; `names` are the schemas that are described once. */
export function documentOf(
  operations: readonly Operation[],
  names: Readonly<Record<string, z.ZodMiniType>>,
  choices: DocumentChoices,
): OpenApiDocument {
  const shared: Shared = { schemas: schemaBook(names), responses: new Map() }
  const paths: Record<string, { [Method in OpenApiMethod]?: OpenApiOperation }> = {}
  const tags = new Set<Tag>()
  for (const operation of operations) {
    for (const route of routesOf(operation, choices.surfaces)) {
      const item = paths[route.path] ?? {}
      item[methods[operation.method]] = describe(operation, route, choices, shared)
      paths[route.path] = item
      tags.add(operation.tag)
    }
  }
  return {
    openapi: '3.1.1',
    info: choices.info,
    servers: choices.servers,
    tags: [...tags].map((name) => ({ name, description: tagDescriptions[name] })),
    paths,
    components: {
      securitySchemes: securitySchemesOf(choices.surfaces, choices),
      schemas: {
        ...Object.fromEntries(shared.schemas.components),
        ...problemsIn(paths, shared.responses),
      },
      responses: Object.fromEntries(shared.responses),
    },
  }
}

/** The id of an operation on both surfaces begins with the surface; an unprefixed path has the plain id. */
function routesOf(operation: Operation, mounted: readonly Surface[]): readonly Route[] {
  const { id, path, unprefixedPath } = operation
  const surfaces = operation.surfaces.filter((surface) => mounted.includes(surface))
  const isMirrored = operation.surfaces.length > 1
  const own = surfaces.map((surface) => ({
    path: path.replace('{surface}', surface),
    operationId: isMirrored ? `${surface}${id[0]?.toUpperCase()}${id.slice(1)}` : id,
    surfaces: [surface],
  }))
  const hasAlias = unprefixedPath !== undefined && surfaces.length > 0
  return hasAlias ? [...own, { path: unprefixedPath, operationId: id, surfaces }] : own
}

function describe(
  operation: Operation,
  { operationId, surfaces }: Route,
  naming: DocumentChoices,
  { schemas, responses: shared }: Shared,
): OpenApiOperation {
  const parameters = parametersOf(operation, surfaces, naming, schemas)
  const requestBody = requestBodyOf(operation, schemas)
  const responses = [...responsesOf(operation, cookieStems(naming, surfaces), schemas)]
  return {
    operationId,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.deprecated === undefined ? {} : { deprecated: true }),
    security: securityOf(operation, surfaces),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: Object.fromEntries(
      responses.map(([status, response]) => [String(status), sharedOr(response, shared)]),
    ),
  }
}

/** The responses of problems that operations refer to. */
function problemsIn(
  paths: OpenApiDocument['paths'],
  shared: ReadonlyMap<string, OpenApiResponse>,
): Readonly<Record<string, JsonSchema>> {
  const text = JSON.stringify([paths, ...shared.values()])
  const used = Object.entries(problemSchemas).filter(([name]) => text.includes(`/${name}"`))
  return Object.fromEntries(used)
}

/** A response that many operations share is a component. */
function sharedOr(
  response: OpenApiResponse,
  shared: Map<string, OpenApiResponse>,
): OpenApiResponse | OpenApiReference {
  const name = sharedProblems.get(JSON.stringify(response))
  if (name === undefined) return response
  shared.set(name, response)
  return { $ref: `#/components/responses/${name}` }
}

const condition = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of a reply that is still there; 304 if it would be the same.',
  schema: { type: 'string' },
} as const

/** The parameters of an operation in path, query, headers and cookies. */
function parametersOf(
  operation: Operation,
  surfaces: Operation['surfaces'],
  naming: CookieNaming,
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
          name: cookieNameOf(naming, surface, what),
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
function requestBodyOf(operation: Operation, schemas: SchemaBook): OpenApiRequestBody | undefined {
  if (operation.method === 'GET') return undefined
  const schema = schemas.received(operation.body, operation.id)
  const isNothing = JSON.stringify(schema['properties']) === '{}'
  if (isNothing) return undefined
  const type = operation.bodyForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return { required: operation.bodyOptional !== true, content: { [type]: { schema } } }
}

type Headers = Readonly<Record<string, OpenApiHeader>>

const success: Readonly<Record<Operation['status'], string>> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted: what follows from it is done later, if anything.',
  204: 'Done; there is nothing to say.',
  302: 'On to another page.',
}

const etag = { required: true, schema: { type: 'string' } }
const unchanged = 'Unchanged since the reply whose `ETag` the request shows in `If-None-Match`.'

const onward = {
  description:
    'It failed, and a person who came with a whole page goes on to `redirectUri`, or to the page to sign in where the flow is not known, with `?error=`.',
  headers: { Location: { required: true, schema: { type: 'string' } } },
}

/** Every reply of an operation by status. */
function responsesOf(
  operation: Operation,
  stems: readonly string[],
  schemas: SchemaBook,
): ReadonlyMap<number, OpenApiResponse> {
  const shared = deprecationOf(operation)
  const responses = new Map<number, OpenApiResponse>()
  responses.set(operation.status, answerOf(operation, stems, shared, schemas))
  if (operation.forPages) responses.set(303, onward)
  // What a browser gets as a cookie beside a reply without a body.
  if (operation.status === 204 && operation.choosesDelivery) {
    responses.set(200, answerOf({ ...operation, status: 200, cookies: {} }, stems, shared, schemas))
  }
  if (operation.revalidates) responses.set(304, { description: unchanged, headers: { ETag: etag } })
  for (const [status, { description, headers: own, ...rest }] of problemResponses(operation)) {
    const clears = status === 401 && operation.usesRefreshCookie
    const headers = {
      ...own,
      ...(clears ? cookieHeader(stems, ['refresh'], 'Takes a dead refresh cookie away.') : {}),
      ...shared,
    }
    responses.set(status, { description, ...headersOrNone(headers), ...rest })
  }
  return responses
}

function answerOf(
  operation: Operation,
  stems: readonly string[],
  shared: Headers,
  schemas: SchemaBook,
): OpenApiResponse {
  const { status, reply, replyHeaders = {} } = operation
  const sets = operation.cookies?.sets ?? []
  const own = Object.entries(replyHeaders).map(
    ([name, schema]) => [name, { required: true, schema: schemas.sent(schema) }] as const,
  )
  const headers: Headers = {
    ...Object.fromEntries(own),
    ...(operation.revalidates ? { ETag: etag } : {}),
    ...(status === 302 ? { Location: { required: true, schema: { type: 'string' } } } : {}),
    ...(sets.length === 0 ? {} : cookieHeader(stems, sets, 'Each cookie is a line of its own.')),
    ...shared,
  }
  const isEmpty = status === 204 || status === 302
  return {
    description: successOf(operation),
    ...headersOrNone(headers),
    ...(isEmpty ? {} : { content: { 'application/json': { schema: schemas.sent(reply) } } }),
  }
}

function successOf({ status, redirectErrors = [] }: Operation): string {
  if (redirectErrors.length === 0) return success[status]
  const codes = redirectErrors.map((code) => `\`${code}\``)
  return `${success[status]} What goes wrong is told to it as \`?error=\`: ${codes.join(', ')}.`
}

function cookieHeader(
  stems: readonly string[],
  cookies: Parameters<typeof setCookiePattern>[1],
  description: string,
): Headers {
  const pattern = setCookiePattern(stems, cookies)
  return { 'Set-Cookie': { description, schema: { type: 'string', pattern } } }
}

function deprecationOf({ deprecated }: Operation): Headers {
  if (deprecated === undefined) return {}
  const text = { type: 'string' }
  return {
    Deprecation: { description: 'RFC 9745.', required: true, schema: text },
    ...(deprecated.sunset === undefined
      ? {}
      : { Sunset: { description: 'RFC 8594.', required: true, schema: text } }),
  }
}

function headersOrNone(headers: Headers): { readonly headers?: Headers } {
  return Object.keys(headers).length === 0 ? {} : { headers }
}
