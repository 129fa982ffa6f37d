import { lazily } from '../concurrency/promises.js'
import type { Principal } from '../domain/context/principal.js'
import { isProofAge } from '../engine/duration.js'
import { matcherOf } from '../http/match.js'
import { createPipeline } from '../http/pipeline.js'
import { refusalEvents } from '../http/refusal-events.js'
import { ofSurface, routeGuards } from '../http/route-guards.js'
import type { SessionOf } from '../http/session-facts.js'
import { type SurfaceRoutes, surfaceRouter, withCors } from '../http/surface-router.js'
import { operations } from '../operations/index.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import type { SurfaceAuth } from './auth.js'
import type { Defaults } from './defaults.js'
import type { BuiltSurface } from './lazy-surface.js'
import type { SharedServices } from './shared-services.js'
import { cookiePolicyOf, originsOf } from './surface-options.js'

type Mounting = Pick<Defaults, 'clock' | 'logger' | 'inRequest'> &
  Pick<SharedServices, 'clientIp' | 'tracing'>

/** The routes of one surface and what answers them, each made at its first request. */
export function routesOf(
  surface: Surface,
  built: () => BuiltSurface,
  options: AuthOptions,
  mounting: Mounting,
): SurfaceRoutes {
  const own = options.surfaces[surface]
  const allowedOrigins = originsOf(own)
  const cookies = cookiePolicyOf(surface, own)
  const matcher = lazily(() => matcherOf(operations, surface))
  const pipeline = lazily(() => {
    const { services, emit } = built()
    const deps = { ...mounting, surface, services, emit, cookies, allowedOrigins }
    return withCors(createPipeline(deps), allowedOrigins)
  })
  return {
    get matcher() {
      return matcher()
    },
    get pipeline() {
      return pipeline()
    },
  }
}

/** What the host is given of one surface. */
export function mountSurface<S extends Surface>(
  surface: S,
  { services, emit, users, registrations, identities, roles, audit, sessions }: BuiltSurface,
  { routes, pages }: { readonly routes: SurfaceRoutes; readonly pages: SessionOf<S> },
  { clientIp, clock, logger, inRequest }: Mounting,
): SurfaceAuth<S> {
  const { access, stepUp } = services
  const refusals = refusalEvents({ clock, emit })
  return {
    ...surfaceRouter(surface, routes),
    users,
    registrations,
    identities,
    roles,
    audit,
    ...sessions,
    async authenticate(authorization) {
      return ofSurface(surface, await access.authenticate(authorization))
    },
    guards: routeGuards(surface, { services, refusals, clientIp, logger, inRequest }),
    sessionOf: pages,
    async requirePermission(principal, permission, of) {
      requirePrincipal('requirePermission', principal)
      await access.permit(ofSurface(surface, principal), permission, of)
    },
    async requireStepUp(principal, { maxAgeMs }) {
      requirePrincipal('requireStepUp', principal)
      if (!isProofAge(maxAgeMs)) {
        throw new TypeError(
          'requireStepUp: maxAgeMs must be milliseconds, at most an hour (3,600,000)',
        )
      }
      await access.recheck(ofSurface(surface, principal))
      await stepUp.require(principal, maxAgeMs)
    },
  }
}

/** JavaScript lets a host give the facts of a page, which a cookie alone proved. */
function requirePrincipal(name: string, principal: Principal): void {
  const { userId, claims } = principal ?? {}
  if (typeof userId === 'string' && typeof claims === 'object' && claims?.sub === userId) return
  throw new TypeError(
    `${name}: needs the principal of authenticate() or principalOf(); what sessionOf gives is none`,
  )
}
