import { lazily } from '../concurrency/promises.js'
import { createRegistrations } from '../domain/accounts/registration.js'
import { createUsers } from '../domain/accounts/users.js'
import {
  authenticate,
  recheckPrincipal,
  requirePermission,
} from '../domain/authorization/access.js'
import { createRoles } from '../domain/authorization/roles.js'
import { openCollections } from '../domain/context/open-collections.js'
import { type AuditLog, createAuditLog, createEmit } from '../domain/events/audit-log.js'
import { createWebhooks, type Webhooks } from '../domain/events/webhooks.js'
import { requireStepUp } from '../domain/factors/step-up.js'
import { createRateLimiter } from '../domain/limits/rate-limiter.js'
import { createSessionAdministration } from '../domain/sessions/own-sessions.js'
import { type SurfaceContext, surfaceMemory } from '../domain/surface/surface-context.js'
import { isProofAge } from '../engine/duration.js'
import { matcherOf } from '../http/match.js'
import { createPipeline } from '../http/pipeline.js'
import { ofSurface, routeGuards } from '../http/route-guards.js'
import type { SessionOf } from '../http/session-facts.js'
import { sessionOf } from '../http/session-of.js'
import {
  type SurfaceRoutes,
  type SurfacesOfRequest,
  surfaceRouter,
  withCors,
} from '../http/surface-router.js'
import { removalsOf } from '../model/collections.js'
import { operations } from '../operations/index.js'
import type { Operation } from '../operations/operation.js'
import { operationOptions } from '../operations/operation.js'
import type { GivenOptions, SurfaceOptions } from '../options.js'
import type { AuthEvent, Emit } from '../ports/events.js'
import type { Surface } from '../ports/surface.js'
import type { SurfaceAuth } from './auth.js'
import { ownAccount, requirePrincipal } from './own-account.js'
import type { Shared } from './shared-parts.js'
import { cookiePolicyOf, linksOf, originsOf, relyingPartyOf, routesUrlOf } from './surfaces.js'

/** One surface: the context of its functions, who records its events, and its routes. */
export interface BuiltSurface {
  readonly ctx: SurfaceContext
  readonly audit: AuditLog
  readonly webhooks: Webhooks
  readonly routes: SurfaceRoutes
}

const dayMs = 24 * 60 * 60 * 1000

/** `on` is asked once requests are served: operators administer accounts of both surfaces. */
export function buildSurface(
  [surface, own]: readonly [Surface, SurfaceOptions],
  options: GivenOptions,
  shared: Shared,
  on: SurfaceContext['on'],
): BuiltSurface {
  const { backend, prefix } = shared
  const collections = openCollections(backend.store, surface, prefix)
  const { exact = false, ...overrides } = own.rateLimits ?? {}
  const limits = createRateLimiter({
    ...{ ...shared, surface, counter: backend.counter },
    ...{ overrides, exact },
  })
  const retentionMs = (options.auditRetentionDays ?? 400) * dayMs
  const { emit, audit, webhooks } = recorders({ ...shared, surface, collections, retentionMs })
  const ctx: SurfaceContext = {
    ...shared,
    surface,
    on,
    collections,
    heldBy: async (userId) => backend.store.heldBy?.(removalsOf(surface, prefix, userId)) ?? [],
    denylist: backend.denylist,
    emit,
    limits,
    memory: surfaceMemory(surface, { ...shared, limits }),
    mailer: options.mailer,
    beforeRegister: options.beforeRegister ?? null,
    relyingParty: relyingPartyOf(own),
    clockLeeway: options.clockLeeway ?? 0,
    routesUrl: routesUrlOf(own),
    links: linksOf(own),
    recognisesDevices: options.deviceRecognition ?? true,
    offers: new Set(operationOptions.filter((option) => own[option])),
    adminStepUp: options.adminStepUp ?? false,
  }
  return { ctx, audit, webhooks, routes: routesOf(ctx, own, shared) }
}

type Recorded = Shared & Pick<SurfaceContext, 'surface' | 'collections'>

/** Each event is published, recorded in the audit log, and sent to the webhook where it is of that kind. */
function recorders(deps: Recorded & { readonly retentionMs: number }): {
  readonly emit: Emit
  readonly audit: AuditLog
  readonly webhooks: Webhooks
} {
  const { auditRecords: records, webhookDeliveries: deliveries } = deps.collections
  // For the recorders themselves: what they could not record is published, and not recorded again.
  const unrecorded = createEmit(deps)
  const audit = createAuditLog({ ...deps, records, emit: unrecorded })
  const webhooks = createWebhooks({ ...deps, deliveries, emit: unrecorded })
  const publish = (event: AuthEvent): void => {
    deps.publish(event)
    audit.record(event)
    webhooks.record(event)
  }
  return { emit: createEmit({ ...deps, publish }), audit: audit.log, webhooks }
}

/** The routes of one surface and what answers them, each made at its first request. */
function routesOf(ctx: SurfaceContext, own: SurfaceOptions, shared: Shared): SurfaceRoutes {
  const { surface } = ctx
  const allowedOrigins = originsOf(own)
  const cookies = cookiePolicyOf(surface, own)
  const isOffered = ({ option }: Operation) => option === undefined || ctx.offers.has(option)
  const matcher = lazily(() => matcherOf(operations.filter(isOffered), surface))
  const pipeline = lazily(() => {
    const { tracing, inRequest, untimed } = shared
    const deps = { ctx, cookies, allowedOrigins, tracing, inRequest, untimed }
    return withCors(createPipeline(deps), allowedOrigins, own.allowedHeaders ?? [])
  })
  return {
    ctx,
    cookies,
    allowedOrigins,
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
  { ctx, audit, routes }: BuiltSurface,
  surfacesOf: SurfacesOfRequest,
  { proxies, inRequest }: Shared,
): SurfaceAuth<S> {
  const { cookies, allowedOrigins } = routes
  const pages = sessionOf(surface, {
    ...{ ctx, cookies, allowedOrigins, proxies, inRequest },
    // Hosts that are in no option are the host's to route, as where the surface is mounted alone.
    isElsewhere(head) {
      const { found } = surfacesOf(head)
      return found.length > 0 && !found.includes(surface)
    },
  })
  return {
    ...surfaceRouter(surface, routes, proxies),
    users: createUsers(ctx),
    registrations: createRegistrations(ctx),
    ...ownAccount(surface, ctx, cookies),
    roles: createRoles(ctx),
    audit,
    ...createSessionAdministration(ctx),
    async authenticate(authorization) {
      return ofSurface(surface, await authenticate(ctx, authorization))
    },
    guards: routeGuards(surface, { ctx, proxies, inRequest }),
    // The overloads say which members come with which use.
    sessionOf: pages as SessionOf<S>,
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
