import { operations } from '../../../src/operations/index.js'
import type { Operation } from '../../../src/operations/operation.js'
import { changedBytes, changedText } from '../../fuzz/changed.js'
import { type Draw, oneOf } from '../../fuzz/fuzz.js'
import { goodPassword } from '../../support/people/people.js'
import type { Known } from './messages.js'

/** A request before it is written down. */
interface Written {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
}

/** Operations after whose success a session or an account would be gone, and the rest would be refused. */
const ending = /logout|delete|terminate|revoke|remove|unlink|reset|changePassword/i

/** Few operations read a form, and each request of theirs is worth more. */
const forms = operations.filter(({ bodyForm }) => bodyForm)

const members: Readonly<Record<string, unknown>> = {
  password: goodPassword,
  newPassword: `${goodPassword} anew`,
  currentPassword: goodPassword,
  newEmail: 'grace@example.org',
  everywhere: false,
  endOtherSessions: false,
  trustDevice: true,
  enabled: true,
  surface: 'client',
  grantType: 'client_credentials',
  grant_type: 'client_credentials',
  method: 'totp',
  code: '123456',
  redirectUri: 'https://app.example.com/in',
  config: { passwordMinLength: '12' },
  recordLists: { redirectTargets: { create: [{ slug: 'a', values: {} }], remove: ['b'] } },
  revision: 1,
  environment: 'production',
  response: {
    id: 'AQID',
    rawId: 'AQID',
    type: 'public-key',
    response: { clientDataJSON: 'e30', attestationObject: 'oA', authenticatorData: 'AA' },
  },
}

/** The names of the members that a body may have. */
function namesIn({ body }: Operation): readonly string[] {
  const { shape } = body.def as { readonly shape?: object }
  return Object.keys(shape ?? {})
}

/**
 * Few enough that each is counted before the heap is first measured. A limit keeps at most 50,000 of them in the process,
 * a few megabytes, which a million strangers would fill in the middle of a run.
 */
const addresses = 64

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

function bodyOf(operation: Operation, email: string): Uint8Array {
  if (operation.method === 'GET') return new Uint8Array()
  const entries = namesIn(operation).map((name): readonly [string, unknown] => [
    name,
    name === 'email' ? email : (members[name] ?? 'abc'),
  ])
  const value = Object.fromEntries(entries)
  if (!operation.bodyForm) return utf8(JSON.stringify(value))
  const form = new URLSearchParams()
  for (const [name, text] of entries) form.set(name, `${text}`)
  return utf8(form.toString())
}

/** A good request to an operation, as far as it can be good without what came before. */
function honest(draw: Draw, known: Known): Written {
  const operation = oneOf(draw, draw(6) === 0 ? forms : operations)
  const surface = oneOf(draw, operation.surfaces)
  const { email, bearer, cookie } = known[surface]
  const path = operation.path
    .replace('{surface}', surface)
    .replace('{provider}', 'google')
    .replaceAll(/\{\w+\}/g, 'main')
  const type = operation.bodyForm ? 'application/x-www-form-urlencoded' : 'application/json'
  const mayEnd = ending.test(operation.id)
  const pair = Buffer.from('svc:secret').toString('base64')
  const shown = oneOf(draw, [`Bearer ${mayEnd ? `${bearer}x` : bearer}`, `Basic ${pair}`, ''])
  const headers: (readonly [string, string])[] = [
    ['host', '127.0.0.1'],
    ['content-type', type],
    ['x-forwarded-for', `10.0.0.${draw(addresses)}`],
    ['origin', `https://${surface === 'client' ? 'app' : 'admin'}.example.com`],
  ]
  if (shown !== '') headers.push(['authorization', shown])
  if (draw(2) === 0) headers.push(['cookie', mayEnd ? `${cookie}x` : cookie])
  const query =
    draw(4) === 0 ? '?limit=10&cursor=abc&redirectUri=https%3A%2F%2Fapp.example.com' : ''
  return { method: operation.method, path: path + query, headers, body: bodyOf(operation, email) }
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']
const oddHeaders = [
  ['cookie', '__Host-cl_refresh=a; __Host-cl_refresh=b; =; ;;'],
  ['authorization', 'Bearer'],
  ['authorization', 'Basic %%%'],
  ['content-type', 'application/json; charset=utf-7'],
  ['content-type', 'multipart/form-data'],
  ['content-encoding', 'gzip'],
  ['x-forwarded-for', '::1, [::], 300.1.1.1, ,'],
  ['x-forwarded-host', 'evil.example, , app.example.com:99999'],
  ['host', '[::1]:x'],
  ['x-token-delivery', 'body'],
  ['origin', 'null'],
  ['sec-fetch-site', 'cross-site'],
  ['if-none-match', '"'],
  ['user-agent', '\u00ff'.repeat(300)],
  ['accept-language', 'x'.repeat(3000)],
] as const

/** What may stand in a header line of one byte a character, so that the next line is still the next. */
const inLine = (text: string): string => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '')
const inPath = (text: string): string => text.replaceAll(/[^\x21-\x7e]/g, '') || '/'

/** One to three things wrong with it, and still one request with a length that is true. */
function spoilt(draw: Draw, request: Written): Written {
  let { method, path, headers, body } = request
  for (let change = 1 + draw(3); change > 0; change -= 1) {
    const kind = draw(8)
    const at = draw(headers.length)
    if (kind === 0) method = oneOf(draw, methods)
    else if (kind === 1) path = `/${inPath(changedText(draw, [path.slice(1)]))}`
    else if (kind === 2) {
      headers = headers.map(([name, value], index) => [
        name,
        index === at && name !== 'host' ? inLine(changedText(draw, [value])) : value,
      ])
    } else if (kind === 3) headers = [...headers, oneOf(draw, oddHeaders)].filter(isOnlyHost)
    else if (kind === 4) headers = headers.filter(([name]) => name === 'host' || draw(3) > 0)
    else if (kind < 7) body = utf8(changedText(draw, [Buffer.from(body).toString()]))
    else body = changedBytes(draw, body)
  }
  return { method, path, headers, body }
}

/** A second `Host` ends the connection, as it must (RFC 9112 §3.2). */
const isOnlyHost = (
  [name]: readonly [string, string],
  at: number,
  all: readonly (readonly [string, string])[],
): boolean => name !== 'host' || all.findIndex(([first]) => first === 'host') === at

function bytesOf({ method, path, headers, body }: Written, last: boolean): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body.byteLength > 0 ? [`content-length: ${body.byteLength}`] : []),
    ...(last ? ['connection: close'] : []),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
}

/** Requests one behind the other on one connection, each of which has to be answered. */
export function pipelined(draw: Draw, known: Known, count: number): Buffer {
  const all = Array.from({ length: count }, (_, at) => {
    const request = honest(draw, known)
    return bytesOf(draw(8) === 0 ? request : spoilt(draw, request), at === count - 1)
  })
  return Buffer.concat(all)
}

/** Bytes that are hardly a request: cut off, of a length that is not true, or with anything in its head. */
export function broken(draw: Draw, known: Known): Buffer {
  const request = spoilt(draw, honest(draw, known))
  const bytes = bytesOf(request, true)
  const kind = draw(5)
  if (kind === 0) return bytes.subarray(0, draw(bytes.byteLength))
  if (kind === 1) return Buffer.from(changedBytes(draw, bytes))
  const wrong = [
    ['content-length', `${draw(100_000)}`],
    ['transfer-encoding', 'chunked'],
    ['content-length', '-1'],
    ['host', 'evil.example'],
    ['expect', '100-continue'],
    ['upgrade', 'websocket'],
    ['cookie', 'a='.repeat(9000)],
  ] as const
  const headers = [...request.headers, oneOf(draw, wrong)]
  return bytesOf({ ...request, headers }, true)
}
