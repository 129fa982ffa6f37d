import { lazily } from '../concurrency/promises.js'
import { createRegistrations } from '../domain/accounts/registration.js'
import { createUsers } from '../domain/accounts/users.js'
import {
  authenticate,
  recheckPrincipal,
  requirePermission,
} from '../domain/authorization/access.js'
import { createRoles } from '../domain/authorization/roles.js'
import type { Principal } from '../domain/context/principal.js'
import { requireStepUp } from '../domain/factors/step-up.js'
import { createIdentityAdministration } from '../domain/oauth/oauth-links.js'
import { createSessionAdministration } from '../domain/sessions/own-sessions.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
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
import type { BuiltSurface } from './build-surface.js'
import type { Defaults } from './defaults.js'
import type { SharedServices } from './shared-services.js'
import { cookiePolicyOf, originsOf } from './surface-options.js'

type Mounting = Pick<Defaults, 'clock' | 'logger' | 'inRequest'> &
  Pick<SharedServices, 'proxies' | 'tracing'>

/** The routes of one surface and what answers them, each made at its first request. */
export function routesOf(
  ctx: SurfaceContext,
  options: AuthOptions,
  mounting: Mounting,
): SurfaceRoutes {
  const { surface } = ctx
  const own = options.surfaces[surface]
  const allowedOrigins = originsOf(own)
  const cookies = cookiePolicyOf(surface, own)
  const matcher = lazily(() => matcherOf(operations, surface))
  const pipeline = lazily(() => {
    const deps = { ...mounting, surface, ctx, emit: ctx.emit, cookies, allowedOrigins }
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
  { ctx, audit }: BuiltSurface,
  { routes, pages }: { readonly routes: SurfaceRoutes; readonly pages: SessionOf<S> },
  { proxies, clock, logger, inRequest }: Mounting,
): SurfaceAuth<S> {
  const refusals = refusalEvents({ clock, emit: ctx.emit })
  return {
    ...surfaceRouter(surface, routes, proxies),
    users: createUsers(ctx),
    registrations: createRegistrations(ctx),
    identities: createIdentityAdministration(ctx),
    roles: createRoles(ctx),
    audit,
    ...createSessionAdministration(ctx),
    async authenticate(authorization) {
      return ofSurface(surface, await authenticate(ctx, authorization))
    },
    guards: routeGuards(surface, { ctx, refusals, proxies, logger, inRequest }),
    sessionOf: pages,
    async requirePermission(principal, permission, of) {
      requirePrincipal('requirePermission', principal)
      await requirePermission(ctx, ofSurface(surface, principal), permission, of)
    },
    async requireStepUp(principal, { maxAgeMs }) {
      requirePrincipal('requireStepUp', principal)
      if (!isProofAge(maxAgeMs)) {
        throw new TypeError(
          'requireStepUp: maxAgeMs must be milliseconds, at most an hour (3,600,000)',
        )
      }
      await recheckPrincipal(ctx, ofSurface(surface, principal))
      await requireStepUp(ctx, principal, maxAgeMs)
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
