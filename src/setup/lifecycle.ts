import { lazily } from '../concurrency/promises.js'
import { actBy } from '../domain/context/actor.js'
import { denylistLifeMs, openCollections } from '../domain/context/open-collections.js'
import { terminateAllSessions } from '../domain/sessions/logout.js'
import type { SurfaceContext } from '../domain/surface/surface-context.js'
import { type Sweepable, type Sweeper, startSweeper } from '../domain/sweep/sweeper.js'
import { AuthError } from '../errors/index.js'
import { surfaceCollections, sweptBy } from '../model/collections.js'
import type { GivenOptions } from '../options.js'
import type { Backend, Lease } from '../ports/backend.js'
import type { Clock, Logger, Random } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import { createBacklogGauge } from '../telemetry/open-telemetry.js'
import type { AllSessionsOptions } from './auth.js'

// What is done beside the requests: at the start, in the background, at the host's wish, and at the end.

/** An id that nothing has, and a time before everything. */
const none = 'migrate'
const beforeAll = 0

/**
 * Asks denylist, lease and counter once, which changes nothing. Each may be another backend's than the
 * store, and one that was not prepared has to stop the start and not the first request. Rejects in time
 * when `backend` does.
 */
export async function requirePrepared({ denylist, lease, counter }: Backend): Promise<void> {
  await asked('denylist', () => denylist.find([none]))
  await asked('lease', () => lease.read(none))
  await asked('counter', () => counter.sweep(beforeAll, 1))
}

async function asked(member: string, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask()
  } catch (cause) {
    throw new Error(
      `auth.migrate: backend.${member} does not answer; if it belongs to a backend that keeps none of ` +
        'the collections, await store.prepare([]) of that backend before',
      { cause },
    )
  }
}

interface SweepDeps {
  /** Guarded: a call that does not come back would hold up everything after it. */
  readonly backend: Backend
  readonly clock: Clock
  readonly random: Random
  /** Those that the host has. */
  readonly surfaces: readonly Surface[]
  /** Goes on with deletions of accounts that were cut off. */
  readonly resumeDeletions: (surface: Surface) => Promise<'more' | 'done'>
  /** Tells the owners of factors who are still to be told. */
  readonly resumeNotices: (surface: Surface) => Promise<'more' | 'done'>
  readonly logger: Logger
}

type SweepOptions = Pick<GivenOptions, 'sweep' | 'collectionPrefix' | 'meterProvider'>

/** These deny: a leader whose clock is ahead must not take away what others still obey. */
const denylistMargin = denylistLifeMs
const counterMargin = 60 * 60 * 1000

/** Starts the sweep in the background, unless the host keeps this process out of it. */
export function startSweeping(options: SweepOptions, deps: SweepDeps): Sweeper {
  if (options.sweep === false) return { close: async () => {} }
  const { denylist, counter, lease, store } = deps.backend
  const prefix = options.collectionPrefix ?? ''
  const { surfaces } = deps
  const swept = surfaces.map((surface) => ({
    surface,
    // Opened at the first sweep.
    collections: lazily(() => openCollections(store, surface, prefix)),
  }))
  return startSweeper({
    ...deps,
    // Processes with one surface each sweep beside each other.
    lease: prefixed(lease, surfaces.length === 1 ? `${prefix}${surfaces.join()} ` : prefix),
    tiers: swept.flatMap(({ surface, collections }) =>
      sweptBy('tokens').map((member) => ({
        tier: surface,
        sweep: (before, limit) => collections()[member].sweep(before, limit),
      })),
    ),
    hygiene: [
      ...surfaces.flatMap((surface) => [
        resumed(`${surface} accounts being deleted`, () => deps.resumeDeletions(surface)),
        resumed(`${surface} factors to be told of`, () => deps.resumeNotices(surface)),
      ]),
      // Everything else of a surface that expires, as the record of collections says.
      ...swept.flatMap(({ surface, collections }) =>
        sweptBy('hygiene').map(
          (member): Sweepable => ({
            name: `${surface} ${surfaceCollections[member].name.replaceAll('_', ' ')}`,
            sweep: async (before, limit) =>
              (await collections()[member].sweep(before, limit)).removed,
          }),
        ),
      ),
      {
        name: 'the denylist',
        sweep: (before, limit) => denylist.sweep(before - denylistMargin, limit),
      },
      {
        name: 'counter windows',
        sweep: (before, limit) => counter.sweep(before - counterMargin, limit),
      },
    ],
    backlog: createBacklogGauge(options.meterProvider),
  })
}

/** Hosts that share a database sweep collections of their own, each by a lease of its own. */
function prefixed(lease: Lease, prefix: string): Lease {
  return {
    read: (name) => lease.read(prefix + name),
    replace: (name, ...records) => lease.replace(prefix + name, ...records),
  }
}

/** Work that goes on where a request was cut off. A full batch shows that there is more. */
function resumed(name: string, resume: () => Promise<'more' | 'done'>): Sweepable {
  return { name, sweep: async (_before, limit) => ((await resume()) === 'more' ? limit : 0) }
}

const members = ['surfaces', 'issuedBefore', 'by']

/** One surface after the other: the database of a running host has other work to do. */
export async function terminateSessionsOn(
  built: readonly SurfaceContext[],
  clock: Clock,
  given: AllSessionsOptions,
): Promise<number> {
  const surfaces = built.map(({ surface }) => surface)
  const { surfaces: chosen = surfaces, issuedBefore = clock.now(), by = {} } = given
  const isKnown = Object.keys(given).every((member) => members.includes(member))
  if (!isKnown || !areKnown(chosen, surfaces)) {
    const names = surfaces.map((surface) => `'${surface}'`).join(' and ')
    const detail = `Options are { surfaces, issuedBefore, by }; surfaces is a list of ${names}.`
    throw new AuthError('invalid_request', { detail })
  }
  const act = actBy(by)
  let written = 0
  for (const ctx of built.filter(({ surface }) => chosen.includes(surface))) {
    written += await terminateAllSessions(ctx, issuedBefore, act)
  }
  return written
}

/** A cast may have let anything through, and an empty list would end nothing. */
function areKnown(chosen: unknown, surfaces: readonly Surface[]): boolean {
  return (
    Array.isArray(chosen) && chosen.length > 0 && chosen.every((name) => surfaces.includes(name))
  )
}

/** Less than container platforms commonly wait before they kill a process (30 seconds). */
const closeLimitMs = 15_000

/** Waits for `work`, and gives up after 15 seconds with a warning: a mailer may never answer. */
export async function closeInTime(
  work: readonly Promise<unknown>[],
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<void> {
  let cancel = (): void => {}
  const limit = new Promise<'late'>((resolve) => {
    cancel = clock.after(closeLimitMs, () => resolve('late'))
  })
  try {
    if ((await Promise.race([Promise.all(work), limit])) !== 'late') return
    logger.warn(
      `close() gave up after ${closeLimitMs / 1000} seconds; mail, webhooks, audit records or a sweep under way were left behind`,
    )
  } finally {
    cancel()
  }
}
