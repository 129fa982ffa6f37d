import { formDecoded } from '../engine/text.js'
import { AuthError, quoteInput } from '../errors/index.js'
import type { Operation, Params } from '../operations/operation.js'
import type { ExchangeBody } from './http-message.js'
import type { IncomingRequest } from './incoming-request.js'

/**
 * For a schema that reads a request: no issue needs a text, since replies have none. Without it, the library asks
 * what the host may have configured for all schemas of its process, and hands over what was sent.
 */
const unworded = { error: () => 'not valid' } as const

/** Larger bodies are refused with 413, whatever the framework would accept. */
export const maxBodyBytes = 64 * 1024

/** JSON and nothing else; a charset may be named if it is the only one JSON has. */
const jsonType = /^application\/json(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

/** What a browser makes of a form. */
const formType = /^application\/x-www-form-urlencoded(?:\s*;\s*charset=(?:utf-8|"utf-8"))?$/i

/** A body that nobody waits for any more. */
export type ReceivedBody = Exclude<ExchangeBody, { readonly kind: 'tooSlow' }>

/**
 * The bytes as they came, not parsed yet. Call it before the
 * caller is checked: a check made earlier would be out of date once a slow body has arrived. Throws
 * `request_body_timeout` for a body that is too slow, and `invalid_request` for one that breaks off, with the
 * adapter's error as `cause`.
 */
export async function receiveBody(
  request: IncomingRequest,
  operation: Operation,
): Promise<ReceivedBody> {
  if (operation.method === 'GET') return { kind: 'empty' }
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBodyBytes) return { kind: 'tooLarge' }
  const body = await arrived(request)
  if (body.kind === 'tooSlow') throw new AuthError('request_body_timeout')
  return sizeOf(body) > maxBodyBytes ? { kind: 'tooLarge' } : body
}

async function arrived(request: IncomingRequest): Promise<ExchangeBody> {
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
  request: IncomingRequest,
  operation: Operation,
  body: ReceivedBody,
): unknown {
  if (operation.method === 'GET') return {}
  if (body.kind === 'tooLarge') throw new AuthError('payload_too_large')

  const type = operation.bodyForm ? formType : jsonType
  const isExpected = type.test(request.headers['content-type']?.trim() ?? '')
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

/**
 * The members of the query, for an operation that declares some; empty for any other. Throws
 * `invalid_request` for members of another form, and for one given twice: a reader of the first
 * and a reader of the last would disagree about the request (RFC 6749 §3.1).
 */
export function readQuery(request: Pick<IncomingRequest, 'query'>, operation: Operation): Params {
  if (operation.query === undefined) return {}
  const { queryMembers: read } = operation
  const given = [...new URLSearchParams(request.query)]
  const members = read === undefined ? given : given.filter(([name]) => read.includes(name))
  const params: Params = Object.fromEntries(members)
  if (Object.keys(params).length < members.length) {
    throw new AuthError('invalid_request', { detail: 'The query has a member twice.' })
  }
  const result = operation.query.safeParse(params, unworded)
  if (result.success) return params
  throw new AuthError('invalid_request', { detail: explainIssues('query', result.error.issues) })
}

/** More than any endpoint of the library takes. */
const mostMembers = 64

/**
 * The members of a form (`application/x-www-form-urlencoded`, RFC 6749 appendix B): `+` is a space, what is
 * percent-encoded is UTF-8. Throws `invalid_request` for bytes that are none of that, for more members
 * than any form has, and for a member that is there twice: readers disagree about which one counts.
 */
export function parseForm(bytes: Uint8Array): Readonly<Record<string, string>> {
  const text = formText(bytes)
  const pairs = text === '' ? [] : text.split('&', mostMembers + 1)
  if (pairs.length > mostMembers) throw refused('The form has too many members.')
  const members = pairs.map((pair): readonly [string, string] => {
    const at = pair.indexOf('=')
    return at < 0 ? [decoded(pair), ''] : [decoded(pair.slice(0, at)), decoded(pair.slice(at + 1))]
  })
  return once(members)
}

/** The same of a form that the host's own parser has read, where each member has to be one text. */
export function parsedForm(value: unknown): Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null) throw refused('The form could not be read.')
  const members = Object.entries(value).map(([name, text]): readonly [string, string] => {
    if (typeof text === 'string') return [name, text]
    throw refused('The form has a member twice.')
  })
  if (members.length > mostMembers) throw refused('The form has too many members.')
  return once(members)
}

function once(members: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  const form = Object.fromEntries(members)
  if (Object.keys(form).length === members.length) return form
  throw refused('The form has a member twice.')
}

function formText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused('The form is not text in UTF-8.')
  }
}

function decoded(text: string): string {
  const plain = formDecoded(text)
  if (plain === null) throw refused('The form is not percent-encoded UTF-8.')
  return plain
}

function refused(detail: string): AuthError {
  return new AuthError('invalid_request', { detail })
}

/**
 * The value of a JSON text in UTF-8. Throws `invalid_request` for any other bytes, and for an object
 * with a member twice: readers disagree about which one counts (RFC 8259 §4).
 */
export function parseJson(bytes: Uint8Array): unknown {
  const { text, value } = parsed(bytes)
  if (membersWritten(text) === membersIn(value)) return value
  throw new AuthError('invalid_request', { detail: 'The request body has a member twice.' })
}

function parsed(bytes: Uint8Array): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch {
    throw new AuthError('invalid_request', { detail: 'The request body is not valid JSON.' })
  }
}

const [quote, backslash, colon] = ['"', '\\', ':']

/** How many members all objects in a JSON text have: outside of strings, each colon stands behind a member's name. */
function membersWritten(text: string): number {
  let count = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (isInString && char === backslash) at += 1
    else if (char === quote) isInString = !isInString
    else if (char === colon && !isInString) count += 1
  }
  return count
}

/** How many members all objects in the value have. No recursion: 64 KiB hold thirty thousand arrays in each other. */
function membersIn(value: unknown): number {
  const waiting: unknown[] = [value]
  let count = 0
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    const members = Object.values(next)
    if (!Array.isArray(next)) count += members.length
    for (const member of members) waiting.push(member)
  }
  return count
}

/** A list can be wrong in tens of thousands of places. */
const mostNamed = 5

/** By the names that the schemas have for them. */
const forms: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

interface Issue {
  readonly code: string
  readonly path: PropertyKey[]
  /** What the member should be; only where it is missing or of another type. */
  readonly expected?: string
}

/** Names members, some of which are keys that the caller chose; repeats nothing else of what was sent. */
export function explainIssues(what: 'request' | 'query', issues: readonly Issue[]): string {
  const parts = issues.map(explain)
  const named = [...new Set(parts)]
  const more = named.length > mostNamed ? '; and more' : ''
  return `The ${what} is not of the expected form: ${named.slice(0, mostNamed).join('; ')}${more}.`
}

function explain({ code, path, expected = '' }: Issue): string {
  if (code === 'unrecognized_keys') return 'it has a member that is not known'
  const name = path.length === 0 ? 'it' : quoteInput(path.join('.'))
  const form = code === 'invalid_type' ? forms[expected] : undefined
  return form === undefined ? `${name} is missing or not valid` : `${name} must be ${form}`
}
