import { AuthError } from '../../errors/index.js'
import type { Operation } from '../../operations/operation.js'
import type { ExchangeBody, ExchangeRequest } from './exchange.js'
import { explainIssues } from './explain-issues.js'
import { parsedForm, parseForm } from './parse-form.js'
import { parseJson } from './parse-json.js'
import { unworded } from './unworded.js'

/** Larger bodies are refused with 413, whatever the framework would accept. */
export const maxBodyBytes = 64 * 1024

/** JSON and nothing else; a charset may be named if it is the only one JSON has. */
const jsonType = /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

/** What a browser makes of a form. */
const formType = /^application\/x-www-form-urlencoded(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

/**
 * The bytes as they came, not parsed yet. Waits for as long as the sender takes. Call it before the
 * caller is checked: a check made earlier would be out of date once a slow body has arrived. Throws
 * `invalid_request` for a body that breaks off, with the adapter's error as `cause`.
 */
export async function receiveBody(
  request: ExchangeRequest,
  operation: Operation,
): Promise<ExchangeBody> {
  if (operation.method === 'GET') return { kind: 'empty' }
  const declared = Number(request.header('content-length') ?? 0)
  if (declared > maxBodyBytes) return { kind: 'tooLarge' }
  const body = await arrived(request)
  return sizeOf(body) > maxBodyBytes ? { kind: 'tooLarge' } : body
}

async function arrived(request: ExchangeRequest): Promise<ExchangeBody> {
  try {
    return await request.body(maxBodyBytes)
  } catch (cause) {
    const detail = 'The request body broke off.'
    throw new AuthError('invalid_request', { detail, cause })
  }
}

/**
 * The host's parser may allow more, and no length stands before a body that came in pieces or
 * compressed. A parsed body counts as the shortest JSON that says the same.
 */
function sizeOf(body: ExchangeBody): number {
  if (body.kind === 'bytes') return body.bytes.byteLength
  return body.kind === 'parsed' ? Buffer.byteLength(shortestJson(body.value)) : 0
}

/** Empty for what is no JSON; no schema accepts that. */
function shortestJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}

/** The parsed and validated body. Throws 413, 415 or 400, in this order. */
export function readBody(
  request: ExchangeRequest,
  operation: Operation,
  body: ExchangeBody,
): unknown {
  if (operation.method === 'GET') return {}
  if (body.kind === 'tooLarge') throw new AuthError('payload_too_large')

  const type = operation.bodyForm ? formType : jsonType
  const isExpected = type.test(request.header('content-type')?.trim() ?? '')
  if (body.kind === 'empty') {
    if (operation.bodyOptional) return {}
    throw new AuthError(isExpected ? 'invalid_request' : 'unsupported_media_type')
  }
  if (!isExpected) throw new AuthError('unsupported_media_type')
  const value = operation.bodyForm ? formIn(body) : jsonIn(body)
  const result = operation.body.safeParse(value, unworded)
  if (result.success) return result.data
  throw new AuthError('invalid_request', { detail: explainIssues('request', result.error.issues) })
}

/** A body that has arrived. */
type Present = Extract<ExchangeBody, { readonly kind: 'bytes' | 'parsed' }>

function jsonIn(body: Present): unknown {
  return body.kind === 'parsed' ? body.value : parseJson(body.bytes)
}

function formIn(body: Present): Readonly<Record<string, string>> {
  return body.kind === 'parsed' ? parsedForm(body.value) : parseForm(body.bytes)
}
