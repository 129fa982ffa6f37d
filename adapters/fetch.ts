import type { ExchangeBody, ExchangeReply, Guarded, Mountable } from '../src/http/exchange.js'
import { type NativeGuards, nativeGuards } from './shared/native-guards.js'

/** What a `Request` does not tell and the host may know. */
export interface FetchContext {
  /** The peer's address. Without it, all requests share one rate-limit count. */
  readonly remoteAddress?: string
  /** Where the routes are mounted, such as `/identity`; taken off the path. Default none. */
  readonly prefix?: string
}

/**
 * For hosts that speak `Request` and `Response` (Hono, Bun, Deno, Workers, Next.js). Resolves with
 * null for a path that is none of ours.
 */
export function fetchHandler(
  mountable: Mountable,
): (request: Request, context?: FetchContext) => Promise<Response | null> {
  if (typeof mountable?.handle !== 'function') {
    throw new TypeError('fetchHandler: needs auth.operator, auth.client or auth.both')
  }
  return async (request, context = {}) => {
    const { pathname, search } = new URL(request.url)
    const { remoteAddress } = context
    const prefix = (context.prefix ?? '').replace(/\/$/, '')
    if (!pathname.startsWith(`${prefix}/`)) return null
    const reply = await mountable.handle({
      method: request.method,
      path: pathname.slice(prefix.length),
      query: search.slice(1),
      header: (name) => request.headers.get(name) ?? undefined,
      remoteAddress,
      body: (maxBytes) => bodyOf(request, maxBytes),
    })
    return reply === null ? null : responseOf(reply, request.method)
  }
}

type FetchGuard = (
  request: Request,
  context?: Pick<FetchContext, 'remoteAddress'>,
) => Promise<Response | null>

/**
 * Guards for your own routes: with `{ requireUser, principalOf }` of `fetchGuards(auth.client)`,
 * `const refusal = await signedIn(request)` of `const signedIn = requireUser()` is null to go on, else
 * the response to return.
 */
export function fetchGuards<P, A extends string>(
  surface: Guarded<P, A>,
): NativeGuards<P, A, FetchGuard, Request> {
  return nativeGuards('fetchGuards', surface, (admit) => async (request, context = {}) => {
    const header = (name: string) => request.headers.get(name) ?? undefined
    const refusal = await admit(request, { header, remoteAddress: context.remoteAddress })
    return refusal === null ? null : responseOf(refusal, request.method)
  })
}

async function bodyOf(request: Request, maxBytes: number): Promise<ExchangeBody> {
  if (request.body === null) return { kind: 'empty' }
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.byteLength
    if (size > maxBytes) {
      void discard(reader)
      return { kind: 'tooLarge' }
    }
    chunks.push(part.value)
  }
  if (size === 0) return { kind: 'empty' }
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return { kind: 'bytes', bytes }
}

/** A connection with an unread rest takes no more requests, and cancelling would cut the reply off. */
async function discard(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  try {
    let part = await reader.read()
    while (!part.done) part = await reader.read()
  } catch {
    // The sender gave up; nobody is waiting for the rest.
  }
}

function responseOf(reply: ExchangeReply, method: string): Response {
  const headers = new Headers(reply.headers)
  for (const cookie of reply.cookies) headers.append('set-cookie', cookie)
  return new Response(method === 'HEAD' ? null : reply.body, { status: reply.status, headers })
}
