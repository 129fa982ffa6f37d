import type {
  ExchangeBody,
  ExchangeReply,
  InTime,
  Mountable,
  RouteGuarded,
} from '../src/http/http-message.js'
import { gatheredBody } from './shared/gathered-body.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'

export type { NativeGuards }

/** Facts that a `Request` does not carry. */
export interface FetchContext {
  /** The peer's address. Without it, all requests share one rate limit, and the log says so once. */
  readonly remoteAddress?: string
  /** The path below which the routes are mounted, such as `/identity`. Default none. */
  readonly prefix?: string
}

/**
 * A handler for hosts that use `Request` and `Response` (Hono, Bun, Deno, Next.js). It
 * resolves with null for a path that the library does not serve. Throws a `TypeError` for anything
 * but `auth.operator`, `auth.client` or `auth.both`.
 *
 * @example
 * import { fetchHandler } from 'postern/fetch'
 *
 * const handle = fetchHandler(auth.client)
 * export default {
 *   fetch: async (request: Request, remoteAddress: string) =>
 *     (await handle(request, { remoteAddress })) ?? new Response('Not found', { status: 404 }),
 * }
 */
export function fetchHandler(
  mountable: Mountable,
): (request: Request, context?: FetchContext) => Promise<Response | null> {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('fetchHandler: needs auth.operator, auth.client or auth.both')
  }
  return async (request, context = {}) => {
    const { pathname, search, host } = new URL(request.url)
    const { remoteAddress } = context
    const prefix = (context.prefix ?? '').replace(/\/$/, '')
    if (!pathname.startsWith(`${prefix}/`)) return null
    const reply = await mountable.handle({
      method: request.method,
      path: pathname.slice(prefix.length),
      query: search.slice(1),
      // A request that came over no connection names its host in its URL alone.
      header: (name) => request.headers.get(name) ?? (name === 'host' ? host : undefined),
      remoteAddress,
      body: (maxBytes, inTime) => bodyOf(request, maxBytes, inTime),
    })
    return reply === null ? null : responseOf(reply, request.method)
  }
}

/** Resolves with the reply that refuses, or with null to go on. */
export type FetchGuard = (
  request: Request,
  context?: Pick<FetchContext, 'remoteAddress'>,
) => Promise<Response | null>

/**
 * Route guards for your own routes. A guard such as `requireUser()` is a function of the request that
 * resolves with null to go on, or with the response to return: a problem body of the library. Throws
 * a `TypeError` for anything but `auth.operator` or `auth.client`.
 *
 * @example
 * import { fetchGuards } from 'postern/fetch'
 *
 * const { requireUser, principalOf } = fetchGuards(auth.client)
 * const signedIn = requireUser()
 * export const whoami = async (request: Request) =>
 *   (await signedIn(request)) ?? Response.json({ id: principalOf(request).userId })
 */
export function fetchGuards<P, A extends string>(
  surface: RouteGuarded<P, A>,
): NativeGuards<P, A, FetchGuard, Request> {
  return nativeGuards('fetchGuards', surface, (admit) => async (request, context = {}) => {
    const header = (name: string) => request.headers.get(name) ?? undefined
    const refusal = await admit(request, { header, remoteAddress: context.remoteAddress })
    return refusal === null ? null : responseOf(refusal, request.method)
  })
}

async function bodyOf(request: Request, maxBytes: number, inTime: InTime): Promise<ExchangeBody> {
  if (request.body === null) return { kind: 'empty' }
  // Another reader has it, and did not hand it on. No schema accepts undefined.
  if (request.bodyUsed || request.body.locked) return { kind: 'parsed', value: undefined }
  const reader = request.body.getReader()
  return gatheredBody(() => reader.read(), maxBytes, inTime)
}

function responseOf(reply: ExchangeReply, method: string): Response {
  const headers = new Headers(reply.headers)
  for (const cookie of reply.cookies) headers.append('set-cookie', cookie)
  return new Response(method === 'HEAD' ? null : reply.body, { status: reply.status, headers })
}
