import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, OpenApiHeader, OpenApiResponse } from '../../../src/openapi/types.js'
import type { Reply } from './http-client.js'

/** What callers read of a reply; each must be documented wherever it is sent. */
const toldHeaders = [
  'www-authenticate',
  'retry-after',
  'location',
  'x-refresh-outcome',
  'deprecation',
  'sunset',
]

/** The host may set cookies of its own. */
const ownCookie = /^(__Host-|__Secure-)?(op|cl)_/

interface Route {
  readonly id: string
  readonly form: RegExp
  /** By status. */
  readonly responses: Readonly<Record<string, OpenApiResponse>>
}

export interface Judgement {
  readonly operationId: string
  /** What of the reply the document does not say; empty when it says all of it. */
  readonly problems: readonly string[]
}

/** Holds replies against a document, as if its objects had the members that it names and no others. */
export function replyJudge(
  document: OpenApiDocument,
): (method: string, path: string, reply: Reply) => Judgement | null {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  const closed: OpenApiDocument = JSON.parse(JSON.stringify(document), closeObject)
  ajv.addSchema(closed, 'document')
  const routes = routesOf(closed)
  const compiled = new Map<object, ValidateFunction>()

  /** Null for what is as the schema says. */
  function problemOf(schema: object, value: unknown): string | null {
    const validate = compiled.get(schema) ?? ajv.compile(schema)
    compiled.set(schema, validate)
    return validate(value) ? null : ajv.errorsText(validate.errors)
  }

  function headerProblem(name: string, header: OpenApiHeader, reply: Reply): string | null {
    const value = reply.headers.get(name)
    if (value === null) return header.required ? `header ${name} is missing` : null
    const isNumber = header.schema['type'] === 'integer'
    const problem = problemOf(header.schema, isNumber ? Number(value) : value)
    return problem === null ? null : `header ${name}: ${problem}`
  }

  function headerProblems({ headers = {} }: OpenApiResponse, reply: Reply): readonly string[] {
    const unknown = toldHeaders
      .filter((name) => reply.headers.has(name) && !hasName(headers, name))
      .map((name) => `header ${name} is not documented`)
    const wrong = Object.entries(headers)
      .filter(([name]) => name !== 'Set-Cookie')
      .map(([name, header]) => headerProblem(name, header, reply))
    return [...unknown, ...wrong.filter((problem) => problem !== null)]
  }

  function cookieProblems({ headers = {} }: OpenApiResponse, reply: Reply): readonly string[] {
    const schema = headers['Set-Cookie']?.schema
    return reply.setCookies
      .filter((cookie) => ownCookie.test(cookie))
      .filter((cookie) => schema === undefined || problemOf(schema, cookie) !== null)
      .map((cookie) => `cookie ${cookie} is not documented`)
  }

  function bodyProblem({ content }: OpenApiResponse, reply: Reply): string | null {
    if (content === undefined) return reply.text === '' ? null : 'a body is not documented'
    const [type = ''] = reply.headers.get('content-type')?.split(';') ?? []
    const schema = content[type]?.schema
    if (schema === undefined) return `media type "${type}" is not documented`
    return problemOf(schema, type.includes('json') ? JSON.parse(reply.text) : reply.text)
  }

  return (method, path, reply) => {
    const [bare = ''] = path.split('?')
    const known = routes.get(method === 'HEAD' ? 'GET' : method)
    const route = known?.find(({ form }) => form.test(bare))
    if (route === undefined) return null
    const operationId = route.id
    const response = route.responses[String(reply.status)]
    if (response === undefined) {
      return { operationId, problems: [`status ${reply.status} is not documented`] }
    }
    const ofBody = method === 'HEAD' ? null : bodyProblem(response, reply)
    const problems = [
      ...headerProblems(response, reply),
      ...cookieProblems(response, reply),
      ...(ofBody === null ? [] : [ofBody]),
    ]
    return { operationId, problems }
  }
}

/** Objects that callers get are open to members of later releases; of this one none may be left out. */
function closeObject(_key: string, value: unknown): unknown {
  const isOpen =
    typeof value === 'object' &&
    value !== null &&
    'properties' in value &&
    !('additionalProperties' in value)
  return isOpen ? { ...value, additionalProperties: false } : value
}

/** By method; exact paths before those with parameters, and each below any prefix. */
function routesOf(document: OpenApiDocument): ReadonlyMap<string, readonly Route[]> {
  const routes = new Map<string, Route[]>()
  const paths = Object.entries(document.paths).sort(
    ([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')),
  )
  for (const [path, item] of paths) {
    const form = new RegExp(`^(?:/.*)?${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    for (const [method, { operationId, responses }] of Object.entries(item)) {
      const inline = Object.entries(responses).map(([status, entry]) => {
        const response = '$ref' in entry ? shared(document, entry.$ref) : entry
        return [status, withDocument(response)] as const
      })
      const route = { id: operationId, form, responses: Object.fromEntries(inline) }
      const key = method.toUpperCase()
      routes.set(key, [...(routes.get(key) ?? []), route])
    }
  }
  return routes
}

function shared(document: OpenApiDocument, reference: string): OpenApiResponse {
  const name = reference.slice(reference.lastIndexOf('/') + 1)
  const response = document.components.responses[name]
  if (response === undefined) throw new Error(`there is no ${reference}`)
  return response
}

/** References from within a schema that stands alone lead into the document. */
function withDocument(response: OpenApiResponse): OpenApiResponse {
  return JSON.parse(JSON.stringify(response).replaceAll('"$ref":"#/', '"$ref":"document#/'))
}

function hasName(headers: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.keys(headers).some((known) => known.toLowerCase() === name)
}
