import type { ExchangeBody, ExchangeRequest, GuardedRequest } from '../../src/http/exchange.js'

/** What the adapters need of Node's request, over HTTP/1 or HTTP/2. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** HTTP/1 alone. */
  readonly headersDistinct?: Readonly<Record<string, string[] | undefined>>
  readonly socket: { readonly remoteAddress?: string | undefined }
  readonly readableEnded: boolean
  readonly readableDidRead: boolean
  iterator(options: { destroyOnReturn: boolean }): NodeJS.AsyncIterator<Uint8Array>
  resume(): unknown
}

/** What a framework knows of a request beside Node's own object. */
export interface HostView {
  /** Path and query below the mount point, as they were sent. */
  readonly url: string
  /** What a parser of the host's made of the body, if one ran; called when the body is wanted. */
  readonly parsed: () => unknown
}

/** The request as the library reads it, for frameworks that stand on Node's server. */
export function nodeExchange(request: NodeRequest, { url, parsed }: HostView): ExchangeRequest {
  const [path = '/', ...query] = url.split('?')
  return {
    method: request.method ?? 'GET',
    path,
    query: query.join('?'),
    header: (name) => nodeHeader(request, name),
    remoteAddress: request.socket.remoteAddress,
    body: (maxBytes) => bodyOf(request, parsed(), maxBytes),
  }
}

/** The request as guards look at it. */
export function nodeGuarded(request: NodeRequest): GuardedRequest {
  return {
    header: (name) => nodeHeader(request, name),
    remoteAddress: request.socket.remoteAddress,
  }
}

/** The value of a header by lower-case name, as `ExchangeRequest.header` wants it. */
function nodeHeader(
  request: Pick<NodeRequest, 'headers' | 'headersDistinct'>,
  name: string,
): string | undefined {
  // Of several `Authorization` lines Node would keep the first and hide that there were more.
  const lines = request.headersDistinct?.[name]
  if (lines !== undefined && lines.length > 1 && name !== 'cookie') return lines.join(',')
  const value = request.headers[name]
  // HTTP/2 names the host in a pseudo-header (RFC 9113 §8.3.1).
  if (value === undefined && name === 'host') return nodeHeader(request, ':authority')
  return Array.isArray(value) ? value.join(',') : value
}

async function bodyOf(
  request: NodeRequest,
  parsed: unknown,
  maxBytes: number,
): Promise<ExchangeBody> {
  // Who has read the stream, or began to, holds what there was of it: waiting for more would hang.
  const isRead = request.readableEnded || request.readableDidRead
  if (isRead || isContent(parsed)) return parsedBody(request, parsed)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length
    if (size > maxBytes) break
    chunks.push(chunk)
  }
  if (size > maxBytes) {
    // Node drains only what nobody began to read; undrained, the connection takes no more requests.
    request.resume()
    return { kind: 'tooLarge' }
  }
  return size === 0 ? { kind: 'empty' } : { kind: 'bytes', bytes: Buffer.concat(chunks) }
}

/** Whether somebody put a body there. Parsers leave `{}` behind a body that they did not read. */
function isContent(parsed: unknown): boolean {
  if (typeof parsed !== 'object' || parsed === null) return parsed !== undefined
  return parsed instanceof Uint8Array || Object.keys(parsed).length > 0
}

function parsedBody({ headers }: NodeRequest, parsed: unknown): ExchangeBody {
  // Parsers make `{}` of no body at all.
  const isAbsent = headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  if (isAbsent) return { kind: 'empty' }
  if (typeof parsed === 'string') return { kind: 'bytes', bytes: Buffer.from(parsed) }
  if (parsed instanceof Uint8Array) return { kind: 'bytes', bytes: parsed }
  // Undefined when somebody read the body and kept it: no value of any form, so it is refused.
  return { kind: 'parsed', value: parsed }
}

/** The `Vary` header with `ours` added to what is there already. */
export function varyWith(present: number | string | readonly string[] | undefined, ours: string) {
  const names = [present ?? []].flat().join(', ')
  return names === '' ? ours : `${names}, ${ours}`
}
