import type {
  ExchangeBody,
  ExchangeReply,
  ExchangeRequest,
  RouteGuardRequest,
} from '../../src/http/http-message.js'
import { gatheredBody } from './gathered-body.js'

/** The members of Node's request that the adapters use, over HTTP/1 or HTTP/2. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly httpVersionMajor: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Names and values in turns, as they were sent. */
  readonly rawHeaders?: readonly string[]
  /** HTTP/2 only. */
  readonly stream?: { readonly endAfterHeaders?: boolean }
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  iterator(options: { destroyOnReturn: boolean }): NodeJS.AsyncIterator<Uint8Array>
}

/** What a framework knows about a request in addition to Node's own object. */
export interface HostView {
  /** Path and query below the mount point, as they were sent. */
  readonly url: string
  /** The body as the host's parser left it, if one ran. Called when the body is read. */
  readonly parsed: () => unknown
}

/** The request as the library reads it, for frameworks on Node's server. */
export function nodeExchange(request: NodeRequest, { url, parsed }: HostView): ExchangeRequest {
  const [path = '/', ...query] = url.split('?')
  return {
    method: request.method ?? 'GET',
    path,
    query: query.join('?'),
    header: (name) => nodeHeader(request, name),
    remoteAddress: request.socket.remoteAddress,
    async body(maxBytes, inTime) {
      const known = bodyOfOthers(request, parsed())
      if (known !== null) return known
      const parts = request.iterator({ destroyOnReturn: false })
      return gatheredBody(() => parts.next(), maxBytes, inTime)
    },
  }
}

/** The request as route guards read it. */
export function nodeGuarded(request: NodeRequest): RouteGuardRequest {
  return {
    header: (name) => nodeHeader(request, name),
    // Now, although only a refusal tells it: a socket that the caller closed meanwhile has none any more.
    remoteAddress: request.socket.remoteAddress,
  }
}

/** The value of a header by lower-case name, as `ExchangeRequest.header` returns it. */
function nodeHeader(
  request: Pick<NodeRequest, 'headers' | 'rawHeaders'>,
  name: string,
): string | undefined {
  // HTTP/2 names the host in a pseudo-header, which comes before `host` (RFC 9113 §8.3.1).
  if (name === 'host' && request.headers[':authority'] !== undefined) {
    return nodeHeader(request, ':authority')
  }
  const value = request.headers[name]
  if (value === undefined) return undefined
  // Node would keep the first of several `Authorization` lines and hide the others.
  const lines = name === 'cookie' ? [] : linesOf(request.rawHeaders ?? [], name)
  if (lines.length > 1) return lines.join(',')
  return Array.isArray(value) ? value.join(',') : value
}

/** The values of all lines of that name. Node's own list of them would be made of every header. */
function linesOf(raw: readonly string[], name: string): readonly string[] {
  const lines: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const given = raw[at] ?? ''
    if (given.length === name.length && given.toLowerCase() === name) lines.push(raw[at + 1] ?? '')
  }
  return lines
}

/** Null if nobody has read the body, and so the library does. */
function bodyOfOthers(request: NodeRequest, parsed: unknown): ExchangeBody | null {
  // Another reader has the content of a stream that was read or begun: waiting for more would hang.
  const isRead = request.readableEnded || request.readableDidRead
  return isRead || isContent(parsed) ? parsedBody(request, parsed) : null
}

/** True if a parser left a body. Parsers leave `{}` for a body that they did not read. */
function isContent(parsed: unknown): boolean {
  if (typeof parsed !== 'object' || parsed === null) return parsed !== undefined
  return parsed instanceof Uint8Array || Object.keys(parsed).length > 0
}

function parsedBody(request: NodeRequest, parsed: unknown): ExchangeBody {
  // Parsers leave `{}` for an absent body.
  if (!isContent(parsed) && !hasBody(request)) return { kind: 'empty' }
  if (typeof parsed === 'string') return { kind: 'bytes', bytes: Buffer.from(parsed) }
  if (parsed instanceof Uint8Array) return { kind: 'bytes', bytes: parsed }
  // Undefined when a middleware read the body and did not leave it. No schema accepts undefined.
  return { kind: 'parsed', value: parsed }
}

/** Whether one was sent, whatever became of it. */
function hasBody({ headers, stream }: NodeRequest): boolean {
  const length = headers['content-length']
  if (length !== undefined) return Number(length) > 0
  // Over HTTP/2 nothing but the end of the stream says it (RFC 9113 §8.1).
  if (stream?.endAfterHeaders !== undefined) return !stream.endAfterHeaders
  return headers['transfer-encoding'] !== undefined
}

/** The headers of a reply. HTTP/2 forbids `Connection` (RFC 9113 §8.2.2), so it is left out there. */
export function headersFor(
  { httpVersionMajor }: Pick<NodeRequest, 'httpVersionMajor'>,
  { headers }: ExchangeReply,
): readonly (readonly [string, string])[] {
  return Object.entries(headers).filter(([name]) => name !== 'connection' || httpVersionMajor < 2)
}

/** The `Vary` header with `ours` added to the names that are already there. */
export function varyWith(present: number | string | readonly string[] | undefined, ours: string) {
  const names = [present ?? []].flat().join(', ')
  return names === '' ? ours : `${names}, ${ours}`
}
