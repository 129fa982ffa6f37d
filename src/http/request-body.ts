import { quoteInput } from '../engine/quote-input.js'
import { AuthError } from '../errors.js'
import type { Operation } from '../operations/operation.js'
import type { ExchangeRequest } from './exchange.js'

/** G-40 */
export const maxBodyBytes = 64 * 1024

/** JSON and nothing else; a charset may be named if it is the only one JSON has. */
const jsonType = /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

/** The parsed and validated body. Throws 413, 415 or 400, in this order. */
export async function readBody(request: ExchangeRequest, operation: Operation): Promise<unknown> {
  if (operation.method === 'GET') return {}
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > maxBodyBytes) throw new AuthError('payload_too_large')
  const body = await request.body(maxBodyBytes)
  if (body.kind === 'tooLarge') throw new AuthError('payload_too_large')

  const isJson = jsonType.test(request.header('content-type')?.trim() ?? '')
  if (body.kind === 'empty') {
    if (operation.bodyOptional) return {}
    throw new AuthError(isJson ? 'invalid_request' : 'unsupported_media_type')
  }
  if (!isJson) throw new AuthError('unsupported_media_type')
  const value = body.kind === 'parsed' ? body.value : parseJson(body.bytes)
  const result = operation.body.safeParse(value)
  if (result.success) return result.data
  throw new AuthError('invalid_request', { detail: explain(result.error.issues) })
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new AuthError('invalid_request', { detail: 'The request body is not valid JSON.' })
  }
}

/** A list can be wrong in tens of thousands of places. */
const mostNamed = 5

/** Names members, some of which are keys that the caller chose; repeats nothing else of what was sent. */
function explain(
  issues: readonly { readonly code: string; readonly path: PropertyKey[] }[],
): string {
  const parts = issues.map(({ code, path }) =>
    code === 'unrecognized_keys'
      ? 'it has a member that is not known'
      : `${quoteInput(path.join('.'))} is missing or not valid`,
  )
  const named = [...new Set(parts)]
  const more = named.length > mostNamed ? '; and more' : ''
  return `The request is not of the expected form: ${named.slice(0, mostNamed).join('; ')}${more}.`
}
