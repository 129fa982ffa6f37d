import { lazily } from '../concurrency/promises.js'
import { openCollections } from '../domain/context/open-collections.js'
import type { SurfaceContext } from '../domain/context/surface-context.js'
import { assembleEvents, type EventServices } from '../domain/events/assemble-events.js'
import { createRateLimiter } from '../domain/limits/rate-limiter.js'
import type { AuthOptions } from '../options.js'
import type { Surface } from '../ports/surface.js'
import type { Defaults } from './defaults.js'
import type { SharedServices } from './shared-services.js'
import { linksOf, relyingPartyOf, routesUrlOf } from './surface-options.js'
import { createSurfaceServices, type SurfaceServices } from './surface-services.js'

export interface BuiltSurface extends SurfaceServices, EventServices {}

/** A surface whose rooms are built at the first call of `built`, and of the work that no request asks for. */
export interface LazySurface extends Pick<BuiltSurface, 'notices' | 'reencryptTotp'> {
  readonly built: () => BuiltSurface
  readonly deletions: Pick<BuiltSurface['deletions'], 'resume'>
  readonly webhooks: Pick<BuiltSurface['webhooks'], 'deliverDue'>
}

const dayMs = 24 * 60 * 60 * 1000

/**
 * One surface: its ports and constants at once, so that what cannot work is refused before anything is served; the
 * rooms once they are asked for. They are a third of what a construction takes, and a host may mount one surface alone.
 */
export function lazySurface(
  surface: Surface,
  options: AuthOptions,
  shared: Defaults & SharedServices,
  surfaceOf: (surface: Surface) => SurfaceServices,
): LazySurface {
  const own = options.surfaces[surface]
  const { backend, prefix } = shared
  const links = linksOf(own)
  const silent: Omit<SurfaceContext, 'emit'> = {
    ...shared,
    surface,
    collections: openCollections(backend.store, surface, prefix),
    denylist: backend.denylist,
    relyingParty: relyingPartyOf(own),
    clockLeeway: options.clockLeeway ?? 0,
    routesUrl: routesUrlOf(own),
    recognisesDevices: options.deviceRecognition ?? true,
    offersLinks: surface === 'operator' && options.oauth?.linkOnSignIn?.operator === true,
  }
  const retentionMs = (options.auditRetentionDays ?? 400) * dayMs
  const built = lazily(() => {
    const events = assembleEvents(silent, { ...shared, retentionMs })
    const { exact = false, ...overrides } = own.rateLimits ?? {}
    const { counter } = backend
    const limits = createRateLimiter({ ...shared, surface, counter, overrides, exact })
    const { adminStepUp = false, mailer } = options
    const parts = { ...shared, adminStepUp, limits, links, mailer }
    const services = createSurfaceServices({ ...silent, emit: events.emit }, parts, surfaceOf)
    return { ...services, ...events }
  })
  return {
    built,
    deletions: { resume: () => built().deletions.resume() },
    notices: { resume: () => built().notices.resume() },
    webhooks: { deliverDue: () => built().webhooks.deliverDue() },
    reencryptTotp: () => built().reencryptTotp(),
  }
}
