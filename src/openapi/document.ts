import type * as z from 'zod/mini'
import type { Operation, Tag } from '../operations/operation.js'
import { securityOf, securitySchemesOf } from './credentials.js'
import { problemSchemas, sharedProblems } from './problems.js'
import { parametersOf, requestBodyOf } from './request.js'
import { responsesOf } from './responses.js'
import { type SchemaBook, schemaBook } from './schema-book.js'
import type {
  CookiePrefix,
  JsonSchema,
  OpenApiDocument,
  OpenApiMethod,
  OpenApiOperation,
  OpenApiReference,
  OpenApiResponse,
} from './types.js'

type Surface = Operation['surfaces'][number]

export interface DocumentChoices {
  /** The surfaces that the host mounts: one, or both. */
  readonly surfaces: readonly Surface[]
  readonly cookiePrefix: CookiePrefix
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
      securitySchemes: securitySchemesOf(choices.surfaces, choices.cookiePrefix),
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
  { cookiePrefix }: DocumentChoices,
  { schemas, responses: shared }: Shared,
): OpenApiOperation {
  const parameters = parametersOf(operation, surfaces, cookiePrefix, schemas)
  const requestBody = requestBodyOf(operation, schemas)
  const responses = [...responsesOf(operation, surfaces, schemas)]
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
