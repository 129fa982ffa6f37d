import type { AuthEvent } from '../../ports/auth-event.js'
import type { Clock } from '../../ports/clock.js'
import type { Emit } from '../../ports/emit.js'
import type { Surface } from '../../ports/surface.js'

interface Deps {
  readonly surface: Surface
  readonly clock: Clock
  readonly publish: (event: AuthEvent) => void
}

/** Binds `emit` to a surface: it fills in the header that all events have. */
export function createEmit({ surface, clock, publish }: Deps): Emit {
  return (type, source, facts) => {
    // What the compiler cannot follow: the header and the facts of a type make the event of this type.
    const { ip, userAgent } = source ?? { ip: null, userAgent: null }
    publish({ type, surface, at: clock.now(), ip, userAgent, ...facts } as AuthEvent)
  }
}
