import type { Operation } from '../operations/operation.js'
import { setCookiePattern } from './credentials.js'
import { problemResponses } from './problems.js'
import type { SchemaBook } from './schema-book.js'
import type { OpenApiHeader, OpenApiResponse } from './types.js'

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

/** Every reply of an operation by status. */
export function responsesOf(
  operation: Operation,
  surfaces: Operation['surfaces'],
  schemas: SchemaBook,
): ReadonlyMap<number, OpenApiResponse> {
  const shared = deprecationOf(operation)
  const responses = new Map<number, OpenApiResponse>()
  responses.set(operation.status, answerOf(operation, surfaces, shared, schemas))
  if (operation.revalidates) responses.set(304, { description: unchanged, headers: { ETag: etag } })
  for (const [status, { description, headers: own, ...rest }] of problemResponses(operation)) {
    const clears = status === 401 && operation.usesRefreshCookie
    const headers = {
      ...own,
      ...(clears ? cookieHeader(surfaces, ['refresh'], 'Takes a dead refresh cookie away.') : {}),
      ...shared,
    }
    responses.set(status, { description, ...headersOrNone(headers), ...rest })
  }
  return responses
}

function answerOf(
  operation: Operation,
  surfaces: Operation['surfaces'],
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
    ...(sets.length === 0 ? {} : cookieHeader(surfaces, sets, 'Each cookie is a line of its own.')),
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
  surfaces: Operation['surfaces'],
  cookies: Parameters<typeof setCookiePattern>[1],
  description: string,
): Headers {
  const pattern = setCookiePattern(surfaces, cookies)
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
