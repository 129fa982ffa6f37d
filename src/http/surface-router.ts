import { AuthError } from '../errors/index.js'
import type { Surface } from '../ports/surface.js'
import { isPreflight } from './cors.js'
import type { Matcher } from './match.js'
import type { Pipeline } from './pipeline.js'
import { problemReply } from './problem.js'
import type { ExchangeRequest, Mountable } from './request/exchange.js'

/** The routes of one surface, and what is done with a request that was matched against them. */
export interface SurfaceRoutes {
  readonly matcher: Matcher
  readonly pipeline: Pipeline
}

/**
 * One surface alone on its host: its own prefixes, where it answers for unknown paths as well, and
 * the unprefixed paths as its own. It never answers below the other surface's prefixes.
 */
export function surfaceRouter(surface: Surface, routes: SurfaceRoutes): Mountable {
  const administration = surface === 'operator' ? ['/v1/admin'] : []
  const prefixes = [`/v1/auth/${surface}`, ...administration]
  return {
    paths: ['/v1/auth', ...administration],
    async handle(request) {
      const match = routes.matcher.match(request.method, request.path)
      const isOwn = prefixes.some((prefix) => isBelow(request.path, prefix))
      return isOwn || match.kind !== 'none' ? routes.pipeline.run(request, match) : null
    },
  }
}

/** How the router for both surfaces on one host tells whose an unprefixed path is. */
export interface SurfaceResolution {
  /** The surfaces of the host that the request names; none for an unknown host. */
  ofHost(request: Pick<ExchangeRequest, 'header' | 'remoteAddress'>): readonly Surface[]
  /** The surface that alone lists this origin; null for none or both. */
  ofOrigin(origin: string | undefined): Surface | null
  /** The surface whose refresh cookie was sent; null for none or both. */
  ofCookie(cookieHeader: string | undefined): Surface | null
  /** The verified audience of a refresh token in the body; null when it is none of ours. */
  ofBody(request: ExchangeRequest): Promise<Surface | null>
  readonly defaultSurface: Surface
}

/**
 * Both surfaces, on one host or on one each. Owns everything below `/v1/auth` and `/v1/admin`; an
 * unprefixed path only chooses the surface and then goes the surface's own way.
 */
export function bothRouter(
  routes: Readonly<Record<Surface, SurfaceRoutes>>,
  resolution: SurfaceResolution,
): Mountable {
  /**
   * Null on an unknown host, and on the host of one surface below the other's prefix: the two stay
   * apart there.
   */
  async function surfaceOf(request: ExchangeRequest): Promise<Surface | null> {
    const ofPath = surfaceInPath(request.path)
    if (ofPath !== undefined && isOnEveryHost(request, ofPath)) return ofPath
    const ofHost = resolution.ofHost(request)
    if (ofPath !== undefined) return ofHost.includes(ofPath) ? ofPath : null
    const [only = null] = ofHost
    if (ofHost.length < 2) return only
    return (
      // It carries neither cookie nor body; what it asks for is decided when that comes.
      (isPreflight(request) ? resolution.ofOrigin(request.header('origin')) : null) ??
      resolution.ofCookie(request.header('cookie')) ??
      (request.path === '/v1/auth/refresh' ? await resolution.ofBody(request) : null) ??
      resolution.defaultSurface
    )
  }
  function isOnEveryHost({ method, path }: ExchangeRequest, surface: Surface): boolean {
    const match = routes[surface].matcher.match(method, path)
    return match.kind === 'operation' && match.operation.everyHost === true
  }
  return {
    paths: ['/v1/auth', '/v1/admin'],
    async handle(request) {
      if (!isBelow(request.path, '/v1/auth') && !isBelow(request.path, '/v1/admin')) return null
      const once = readOnce(request)
      const surface = await surfaceOf(once)
      if (surface === null) return problemReply(new AuthError('not_found'))
      const { matcher, pipeline } = routes[surface]
      return pipeline.run(once, matcher.match(once.method, once.path))
    },
  }
}

const surfaces = ['operator', 'client'] as const
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

/** The body may be looked at to choose the surface, and is read again by the pipeline. */
function readOnce(request: ExchangeRequest): ExchangeRequest {
  let body: ReturnType<ExchangeRequest['body']> | null = null
  return {
    method: request.method,
    path: request.path,
    query: request.query,
    header: (name) => request.header(name),
    remoteAddress: request.remoteAddress,
    body(maxBytes) {
      body ??= request.body(maxBytes)
      return body
    },
  }
}
