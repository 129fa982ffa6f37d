import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Clock } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'

interface Deps {
  readonly surface: Surface
  readonly clock: Clock
  readonly publish: (event: AuthEvent) => void
}

/** Binds `emit` to a surface: it fills in the header that all events have. */
export function createEmit({ surface, clock, publish }: Deps): Emit {
  return (type, source, facts) => {
    const { ip, userAgent } = source ?? { ip: null, userAgent: null }
    const header = { type, surface, at: facts.at ?? clock.now(), ip, userAgent }
    // Twice: first in order, and last in effect, since an object may have more members than its type.
    // The cast: the header and the facts of a type make the event of this type.
    publish({ ...header, ...facts, ...header } as AuthEvent)
  }
}
