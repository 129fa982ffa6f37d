import { lazily } from '../concurrency/promises.js'
import { denylistLifeMs, openCollections } from '../domain/context/open-collections.js'
import { type Sweepable, type Sweeper, startSweeper } from '../domain/sweep/sweeper.js'
import { type Collections, surfaceCollections, sweptBy } from '../model/collections.js'
import type { AuthOptions } from '../options.js'
import type { Backend, Lease } from '../ports/backend.js'
import type { Clock, Logger, Random } from '../ports/host.js'
import type { Surface } from '../ports/surface.js'
import { createBacklogGauge } from '../telemetry/open-telemetry.js'

interface Deps {
  /** Guarded: a call that does not come back would hold up everything after it. */
  readonly backend: Backend
  readonly clock: Clock
  readonly random: Random
  /** Goes on with deletions of accounts that were cut off. */
  readonly resumeDeletions: (surface: Surface) => Promise<'more' | 'done'>
  /** Tells the owners of factors who are still to be told. */
  readonly resumeNotices: (surface: Surface) => Promise<'more' | 'done'>
  readonly logger: Logger
}

interface SweptSurface {
  readonly surface: Surface
  /** Opened at the first sweep. */
  readonly collections: () => Collections
}

type SweepOptions = Pick<AuthOptions, 'sweep' | 'collectionPrefix' | 'meterProvider'>

/** These deny: a leader whose clock is ahead must not take away what others still obey. */
const denylistMargin = denylistLifeMs
const counterMargin = 60 * 60 * 1000

const surfaces = ['operator', 'client'] as const

/** Starts the sweep in the background, unless the host keeps this process out of it. */
export function startSweeping(options: SweepOptions, deps: Deps): Sweeper {
  if (options.sweep === false) return { close: async () => {} }
  const { denylist, counter, lease, store } = deps.backend
  const prefix = options.collectionPrefix ?? ''
  const swept = surfaces.map((surface) => {
    return { surface, collections: lazily(() => openCollections(store, surface, prefix)) }
  })
  return startSweeper({
    ...deps,
    lease: prefixed(lease, prefix),
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
      ...swept.flatMap(hygieneOf),
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

/** Everything else of a surface that expires, as the record of collections says. */
function hygieneOf({ surface, collections }: SweptSurface): readonly Sweepable[] {
  return sweptBy('hygiene').map((member) => ({
    name: `${surface} ${surfaceCollections[member].name.replaceAll('_', ' ')}`,
    sweep: async (before, limit) => (await collections()[member].sweep(before, limit)).removed,
  }))
}
