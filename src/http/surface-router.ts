import { verifyRefresh } from '../domain/sessions/tokens.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { AuthError, quoteInput } from '../errors/index.js'
import type { Clock, Logger } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import { type CookiePolicy, cookieName, fullCookies } from './cookies.js'
import type { ExchangeBody, ExchangeReply, Mountable } from './http-message.js'
import {
  type IncomingHead,
  type IncomingRequest,
  readRequest,
  type TrustedProxies,
} from './incoming-request.js'
import type { Match, Matcher } from './match.js'
import type { Pipeline } from './pipeline.js'
import { commonHeaders, problemReply } from './reply.js'
import { maxBodyBytes } from './request-input.js'

/** The routes of one surface, and what is done with a request that was matched against them. */
export interface SurfaceRoutes {
  readonly ctx: SurfaceContext
  readonly cookies: CookiePolicy
  readonly allowedOrigins: ReadonlySet<string>
  readonly matcher: Matcher
  readonly pipeline: Pipeline
}

/** The surfaces whose host a request names, none for an unknown host, and the name that decided. */
export type SurfacesOfRequest = (head: IncomingHead) => {
  readonly found: readonly Surface[]
  readonly host: string | undefined
}

/**
 * One surface alone on its host: its own prefixes, where it answers for unknown paths as well, and
 * the unprefixed paths as its own. It never answers below the other surface's prefixes.
 */
export function surfaceRouter(
  surface: Surface,
  routes: SurfaceRoutes,
  proxies: TrustedProxies,
): Mountable {
  const administration = surface === 'operator' ? ['/v1/admin'] : []
  const prefixes = [`/v1/auth/${surface}`, ...administration]
  return {
    paths: ['/v1/auth', ...administration],
    async handle(request) {
      const match = routes.matcher.match(request.method, request.path)
      const isOwn = () => prefixes.some((prefix) => isBelow(request.path, prefix))
      if (match.kind === 'none' && !isOwn()) return null
      return routes.pipeline.run(readRequest(request, proxies, routes.ctx.clock), match)
    },
  }
}

/** What the surfaces on one host are told apart by, beside their routes. */
export interface Apart {
  readonly surfacesOf: SurfacesOfRequest
  readonly defaultSurface: Surface
  readonly proxies: TrustedProxies
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * All surfaces of the host, on one host name or on one each. Owns everything below `/v1/auth` and `/v1/admin`; an
 * unprefixed path only chooses the surface and then goes the surface's own way.
 */
export function bothRouter(
  routes: readonly SurfaceRoutes[],
  { surfacesOf, defaultSurface, proxies, clock, logger }: Apart,
): Mountable {
  const warnOfHost = hostWarning(logger)

  /**
   * Null on an unknown host, below the prefix of a surface that this host lacks, and on the host of one surface below
   * the other's prefix: the two stay apart there.
   */
  async function surfaceOf(request: IncomingRequest): Promise<Surface | null> {
    const ofPath = surfaceInPath(request.path)
    if (ofPath !== undefined && isOnEveryHost(request, ofPath)) return ofPath
    const { found, host } = surfacesOf(request)
    if (found.length === 0) warnOfHost(host)
    if (ofPath !== undefined) return found.includes(ofPath) ? ofPath : null
    const [only = null] = found
    return found.length < 2 ? only : broughtBy(request)
  }

  async function broughtBy(request: IncomingRequest): Promise<Surface> {
    // It carries neither cookie nor body; what it asks for is decided when that comes.
    const ofPage = isPreflight(request) ? ofOrigin(request) : null
    return ofPage ?? ofCookie(request) ?? (await ofBody(request)) ?? defaultSurface
  }

  function isOnEveryHost({ method, path }: IncomingRequest, surface: Surface): boolean {
    const match = routesOf(surface)?.matcher.match(method, path)
    return match?.kind === 'operation' && match.operation.everyHost === true
  }

  /** The surface that alone lists this origin; null for none or both. */
  function ofOrigin({ headers: { origin = '' } }: IncomingRequest): Surface | null {
    return onlyOne(({ allowedOrigins }) => allowedOrigins.has(origin))
  }

  /** The surface whose refresh cookie was sent; null for none or both. */
  function ofCookie({ cookies }: IncomingRequest): Surface | null {
    return onlyOne((own) => fullCookies(cookies, cookieName(own.cookies, 'refresh')).length > 0)
  }

  function onlyOne(is: (own: SurfaceRoutes) => boolean): Surface | null {
    const [found, ...others] = routes.filter(is)
    return found === undefined || others.length > 0 ? null : found.ctx.surface
  }

  function routesOf(surface: Surface | null): SurfaceRoutes | undefined {
    return routes.find(({ ctx }) => ctx.surface === surface)
  }

  /** The verified audience of a refresh token in the body; null when it is none of ours. */
  async function ofBody(request: IncomingRequest): Promise<Surface | null> {
    if (request.path !== '/v1/auth/refresh') return null
    const token = refreshTokenIn(await bodyOf(request))
    if (token === null) return null
    for (const { ctx } of routes) {
      if (await isOf(ctx, token)) return ctx.surface
    }
    return null
  }

  return {
    paths: ['/v1/auth', '/v1/admin'],
    async handle(given) {
      if (!isBelow(given.path, '/v1/auth') && !isBelow(given.path, '/v1/admin')) return null
      const request = readRequest(given, proxies, clock)
      const found = routesOf(await surfaceOf(request))
      if (found === undefined) return problemReply(new AuthError('not_found'))
      const { matcher, pipeline } = found
      return pipeline.run(request, matcher.match(request.method, request.path))
    },
  }
}

const surfaces: readonly Surface[] = ['operator', 'client']
const ofMachines = ['/v1/auth/token', '/v1/auth/oauth2', '/v1/admin']

/** Undefined for a path that does not say. */
function surfaceInPath(path: string): Surface | undefined {
  // Without a surface segment, and the operator surface's alone.
  if (ofMachines.some((prefix) => isBelow(path, prefix))) return 'operator'
  return surfaces.find((surface) => isBelow(path, `/v1/auth/${surface}`))
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`)
}

/** Where no key can judge it, the pipeline answers that, on whatever surface. */
async function isOf(ctx: SurfaceContext, token: string): Promise<boolean> {
  try {
    const verified = await verifyRefresh(ctx, token)
    // One that is expired, or from the future, is still this surface's to refuse.
    return 'claims' in verified
  } catch {
    return false
  }
}

/** A body that breaks off is for the pipeline to meet. */
async function bodyOf(request: IncomingRequest): Promise<ExchangeBody> {
  try {
    return await request.body(maxBodyBytes)
  } catch {
    return { kind: 'empty' }
  }
}

/** Only looks: a body that is not as it should be is the pipeline's to refuse. */
function refreshTokenIn(body: ExchangeBody): string | null {
  try {
    const value: unknown =
      body.kind === 'parsed'
        ? body.value
        : JSON.parse(body.kind === 'bytes' ? new TextDecoder().decode(body.bytes) : 'null')
    const isObject = typeof value === 'object' && value !== null && 'refreshToken' in value
    return isObject && typeof value.refreshToken === 'string' ? value.refreshToken : null
  } catch {
    return null
  }
}

/** Enough to mend a configuration by; scanners make up any number of them. */
const mostUnknownHosts = 10

/** Warns of hosts that no surface has, once of each. */
function hostWarning(logger: Logger): (host: string | undefined) => void {
  const unknown = new Set<string>()
  return (named) => {
    const host = quoteInput(named ?? '')
    if (unknown.size >= mostUnknownHosts || unknown.has(host)) return
    unknown.add(host)
    logger.warn(
      `no surface has the host ${host}, so requests to it get 404; if it is yours, add it to surfaces.operator.hosts or surfaces.client.hosts`,
    )
  }
}

/**
 * What a page of another origin may send beside what every page may. The library reads three of them; the others are
 * what tracing and HTTP libraries add to every request of a page, without asking its author.
 */
const requestHeaders = [
  ...['Authorization', 'Content-Type', 'X-Token-Delivery'],
  // W3C Trace Context §3.2 and §3.3, W3C Baggage §3.1, and Sentry's own.
  ...['traceparent', 'tracestate', 'baggage', 'sentry-trace'],
  ...['X-Request-Id', 'X-Requested-With'],
]

/** With those that the host adds, each once. */
function requestHeadersWith(added: readonly string[]): string {
  const names = [...requestHeaders, ...added]
  const plain = names.map((name) => name.toLowerCase())
  return names.filter((name, at) => plain.indexOf(name.toLowerCase()) === at).join(', ')
}

/** What a page of another origin may read beside what every page may. */
const exposedHeaders = 'Deprecation, Retry-After, Sunset, WWW-Authenticate, X-Refresh-Outcome'

/** Seconds for which a browser need not ask again; two hours is the most that any of them keeps. */
const preflightMaxAge = '600'

/**
 * Lets pages of the surface's own origins, and of no other, read its replies, with cookies
 * (Fetch §3.3). What a request may do is decided elsewhere, for every origin alike: this only tells
 * browsers which pages may read the answer.
 */
export function withCors(
  pipeline: Pipeline,
  allowedOrigins: ReadonlySet<string>,
  addedHeaders: readonly string[],
): Pipeline {
  const allowedHeaders = requestHeadersWith(addedHeaders)
  return {
    async run(request, match) {
      if (!isForPages(match)) return pipeline.run(request, match)
      const { origin } = request.headers
      // A cache must not give the answer for one origin to another, nor the one without to any.
      if (origin === undefined || !allowedOrigins.has(origin)) {
        return varying(await pipeline.run(request, match), {})
      }
      const granted = {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
      }
      if (match.kind === 'method' && isPreflight(request)) {
        const asked = { ...granted, 'access-control-allow-headers': allowedHeaders }
        return varying(preflightReply(asked, match), {})
      }
      const exposed = { 'access-control-expose-headers': exposedHeaders }
      return varying(await pipeline.run(request, match), { ...granted, ...exposed })
    },
  }
}

/** A machine's secret has no place in a browser. */
function isForPages(match: Match): boolean {
  if (match.kind === 'operation') return match.operation.oauth2 !== true
  return match.kind === 'none' || match.forPages
}

/** A browser asks whether it may, before it sends what a plain form could not (Fetch §3.3.1). */
function isPreflight({ method, headers }: IncomingRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

function preflightReply(
  granted: Readonly<Record<string, string>>,
  { allow }: { readonly allow: readonly string[] },
): ExchangeReply {
  const headers = {
    ...commonHeaders,
    ...granted,
    'access-control-allow-methods': allow.join(', '),
    'access-control-max-age': preflightMaxAge,
  }
  return { status: 204, headers, cookies: [], body: null }
}

function varying(reply: ExchangeReply, headers: Readonly<Record<string, string>>): ExchangeReply {
  const { vary } = reply.headers
  const by = vary === undefined ? 'Origin' : `${vary}, Origin`
  return { ...reply, headers: { ...reply.headers, ...headers, vary: by } }
}

/** What services that verify tokens, and clients of the token endpoint, find out by themselves (RFC 8414 §2). */
export interface ServerMetadata {
  readonly issuer: string
  /** Null where the host has no operator surface: machines are of that one. */
  readonly tokenEndpoint: string | null
  readonly jwksUri: string
}

const wellKnown = '/.well-known/oauth-authorization-server'

/**
 * The metadata at the path of its issuer (RFC 8414 §3.1). Without any, the path is the host's, and `warn`
 * is called when it is first asked for.
 */
export function serverMetadata(known: ServerMetadata | null, warn: () => void): Mountable {
  const path = known === null ? wellKnown : wellKnown + pathOf(known.issuer)
  const body = known === null ? '' : JSON.stringify(membersOf(known))
  let isTold = false
  return {
    paths: [wellKnown],
    async handle(request) {
      if (known === null) {
        const isMeant = request.path === path || request.path.startsWith(`${path}/`)
        if (isMeant && !isTold) warn()
        isTold ||= isMeant
        return null
      }
      if (request.path !== path) return null
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        return problemReply(new AuthError('method_not_allowed'), { allow: 'GET, HEAD' })
      }
      const headers = { ...commonHeaders, 'content-type': 'application/json; charset=utf-8' }
      return { status: 200, headers, cookies: [], body }
    },
  }
}

function membersOf({ issuer, tokenEndpoint, jwksUri }: ServerMetadata) {
  return {
    issuer,
    ...(tokenEndpoint !== null && { token_endpoint: tokenEndpoint }),
    jwks_uri: jwksUri,
    response_types_supported: [],
    grant_types_supported: tokenEndpoint === null ? [] : ['client_credentials'],
    ...(tokenEndpoint !== null && {
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    }),
  }
}

/** Without the slash at its end (RFC 8414 §3.1). */
function pathOf(issuer: string): string {
  return new URL(issuer).pathname.replace(/\/$/, '')
}
