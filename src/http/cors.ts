import type { Match } from './match.js'
import type { Pipeline } from './pipeline.js'
import { commonHeaders } from './problem.js'
import type { ExchangeReply, ExchangeRequest } from './request/exchange.js'

/** What a page of another origin may send beside what every page may. */
const requestHeaders = 'Authorization, Content-Type, X-Token-Delivery'

/** What a page of another origin may read beside what every page may. */
const exposedHeaders = 'Deprecation, Retry-After, Sunset, WWW-Authenticate, X-Refresh-Outcome'

/** Seconds for which a browser need not ask again; two hours is the most that any of them keeps. */
const preflightMaxAge = '600'

/**
 * Lets pages of the surface's own origins, and of no other, read its replies, with cookies
 * (Fetch §3.3). What a request may do is decided elsewhere, for every origin alike: this only tells
 * browsers which pages may read the answer.
 */
export function withCors(pipeline: Pipeline, allowedOrigins: ReadonlySet<string>): Pipeline {
  return {
    async run(request, match) {
      if (!isForPages(match)) return pipeline.run(request, match)
      const origin = request.header('origin')
      // A cache must not give the answer for one origin to another, nor the one without to any.
      if (origin === undefined || !allowedOrigins.has(origin)) {
        return withHeaders(await pipeline.run(request, match), { vary: 'Origin' })
      }
      const granted = {
        vary: 'Origin',
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
      }
      if (match.kind === 'method' && isPreflight(request))
        return preflightReply(granted, match.allow)
      const exposed = { 'access-control-expose-headers': exposedHeaders }
      return withHeaders(await pipeline.run(request, match), { ...granted, ...exposed })
    },
  }
}

/** A machine's secret has no place in a browser. */
function isForPages(match: Match): boolean {
  if (match.kind === 'operation') return match.operation.oauth2 !== true
  return match.kind === 'none' || match.forPages
}

/** A browser asks whether it may, before it sends what a plain form could not (Fetch §3.3.1). */
export function isPreflight(request: Pick<ExchangeRequest, 'method' | 'header'>): boolean {
  return (
    request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
  )
}

function preflightReply(
  granted: Readonly<Record<string, string>>,
  methods: readonly string[],
): ExchangeReply {
  const headers = {
    ...commonHeaders,
    ...granted,
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': preflightMaxAge,
  }
  return { status: 204, headers, cookies: [], body: null }
}

function withHeaders(
  reply: ExchangeReply,
  headers: Readonly<Record<string, string>>,
): ExchangeReply {
  return { ...reply, headers: { ...reply.headers, ...headers } }
}
