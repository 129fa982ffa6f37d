import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExchangeBody, ExchangeReply, Mountable } from '../src/http/exchange.js'

/** What Express adds to Node's request; `body` is there when a parser ran before. */
interface ExpressRequest extends IncomingMessage {
  readonly body?: unknown
}

type ExpressHandler = (
  request: ExpressRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Middleware that answers for `auth.operator`, `auth.client` or `auth.both` and passes everything
 * else on: `app.use(expressRouter(auth.both))`, under any prefix, before or after `express.json()`.
 */
export function expressRouter(mountable: Mountable): ExpressHandler {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('expressRouter: needs auth.operator, auth.client or auth.both')
  }
  return (request, response, next) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    mountable
      .handle({
        method: request.method ?? 'GET',
        path,
        header: (name) => headerOf(request, name),
        remoteAddress: request.socket.remoteAddress,
        body: (maxBytes) => bodyOf(request, maxBytes),
      })
      .then((reply) => (reply === null ? next() : send(response, reply)))
      .catch(next)
  }
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  // Of several `Authorization` lines Node would keep the first and hide that there were more.
  const lines = request.headersDistinct[name]
  if (lines !== undefined && lines.length > 1 && name !== 'cookie') return lines.join(',')
  const value = request.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

async function bodyOf(request: ExpressRequest, maxBytes: number): Promise<ExchangeBody> {
  // A parser before us has consumed the stream: what it made of it is all there is.
  if (request.readableEnded || request.body !== undefined) return parsedBody(request)
  const chunks: Buffer[] = []
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

function parsedBody(request: ExpressRequest): ExchangeBody {
  const { body, headers } = request
  // Parsers make `{}` of no body at all.
  const isAbsent = headers['transfer-encoding'] === undefined && !Number(headers['content-length'])
  if (isAbsent) return { kind: 'empty' }
  if (typeof body === 'string') return { kind: 'bytes', bytes: Buffer.from(body) }
  if (body instanceof Uint8Array) return { kind: 'bytes', bytes: body }
  // Undefined when somebody read the body and kept it: no value of any form, so it is refused.
  return { kind: 'parsed', value: body }
}

function send(response: ServerResponse, reply: ExchangeReply): void {
  response.statusCode = reply.status
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value)
  if (reply.cookies.length > 0) response.appendHeader('set-cookie', reply.cookies)
  response.end(reply.body ?? undefined)
}
