import type { RouteGuardRequest } from './exchange.js'

/**
 * The members of a request that `sessionOf` reads. A web `Request` has them, so have Node's `IncomingMessage` and the
 * requests of Express, Fastify (`request.raw`) and Koa (`context.req`). Where a framework gives headers alone, write
 * `{ method, headers }`.
 */
export interface RequestHead {
  /** In capitals, as `GET`. */
  readonly method?: string | undefined
  /** Web `Headers`, or an object as Node has it. */
  readonly headers:
    | { get(name: string): string | null }
    | Readonly<Record<string, string | readonly string[] | undefined>>
  /** Names the host where no header does. */
  readonly url?: string | undefined
  /** Node's; its address counts where `remoteAddress` is not given. */
  readonly socket?: { readonly remoteAddress?: string | undefined }
}

/** A request's head as the library reads every request. */
export interface ReadHead extends RouteGuardRequest {
  readonly method: string
}

/** Throws a `TypeError` for what is no request, such as the text of a cookie. */
export function readHead(request: RequestHead, remoteAddress: string | undefined): ReadHead {
  if (typeof request?.headers !== 'object' || request.headers === null) {
    throw new TypeError(
      'sessionOf: needs a request with method and headers, not a cookie; give it the Request, or { method, headers }',
    )
  }
  const { method } = request
  if (typeof method !== 'string') {
    throw new TypeError("sessionOf: request.method is missing; give { method: 'GET', headers }")
  }
  const plain = (name: string) => headerOf(request.headers, name)
  return {
    method,
    // HTTP/2 names the host in a pseudo-header (RFC 9113 §8.3.1), which web headers cannot hold.
    header: (name) => (name === 'host' ? hostOf(request, plain) : plain(name)),
    remoteAddress: remoteAddress ?? request.socket?.remoteAddress,
  }
}

function headerOf(headers: RequestHead['headers'], name: string): string | undefined {
  if (isWeb(headers)) return headers.get(name) ?? undefined
  const value = headers[name] ?? headers[spelledOtherwise(headers, name)]
  return typeof value === 'object' ? value.join(name === 'cookie' ? '; ' : ',') : value
}

/** Objects that a host makes itself may have `Origin`, and one that is overlooked would let another site post. */
function spelledOtherwise(headers: object, name: string): string {
  return Object.keys(headers).find((one) => one.toLowerCase() === name) ?? name
}

function isWeb(headers: RequestHead['headers']): headers is { get(name: string): string | null } {
  return typeof headers['get'] === 'function'
}

function hostOf(
  { headers, url }: RequestHead,
  plain: (name: string) => string | undefined,
): string | undefined {
  const authority = isWeb(headers) ? undefined : headerOf(headers, ':authority')
  const named = authority ?? plain('host')
  return named ?? (url !== undefined && URL.canParse(url) ? new URL(url).host : undefined)
}
