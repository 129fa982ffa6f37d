import { openCollections } from '../domain/context/open-collections.js'
import { type AuditLog, createAuditLog } from '../domain/events/audit-log.js'
import { createEmit } from '../domain/events/event-publisher.js'
import { createWebhooks, type Webhooks } from '../domain/events/webhooks.js'
import { createRateLimiter } from '../domain/limits/rate-limiter.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { surfaceMemory } from '../domain/surface/surface-memory.js'
import type { AuthOptions } from '../options.js'
import type { AuthEvent, Emit } from '../ports/events.js'
import type { Surface } from '../ports/surface.js'
import type { Defaults } from './defaults.js'
import type { SharedServices } from './shared-services.js'
import { linksOf, relyingPartyOf, routesUrlOf } from './surface-options.js'

/** One surface: the context of its functions, and who records its events. */
export interface BuiltSurface {
  readonly ctx: SurfaceContext
  readonly audit: AuditLog
  readonly webhooks: Webhooks
}

type Shared = Defaults & SharedServices

const dayMs = 24 * 60 * 60 * 1000

/** `on` is asked once requests are served: operators administer accounts of both surfaces. */
export function buildSurface(
  surface: Surface,
  options: AuthOptions,
  shared: Shared,
  on: SurfaceContext['on'],
): BuiltSurface {
  const own = options.surfaces[surface]
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
    denylist: backend.denylist,
    emit,
    limits,
    memory: surfaceMemory(surface, { ...shared, limits }),
    mailer: options.mailer,
    relyingParty: relyingPartyOf(own),
    clockLeeway: options.clockLeeway ?? 0,
    routesUrl: routesUrlOf(own),
    links: linksOf(own),
    recognisesDevices: options.deviceRecognition ?? true,
    adminStepUp: options.adminStepUp ?? false,
  }
  return { ctx, audit, webhooks }
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
