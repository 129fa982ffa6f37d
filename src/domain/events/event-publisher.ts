import { describeError } from '../../errors/index.js'
import type { AuthEvent, Emit } from '../../ports/events.js'
import type { Clock, Logger } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import type { Tracing } from '../../ports/telemetry.js'

interface PublisherDeps {
  readonly onEvent: ((event: AuthEvent) => unknown) | undefined
  readonly tracing: Tracing
  readonly logger: Logger
}

/**
 * Counts an event and publishes it to the host. Whatever the host's function does, throw, reject or
 * write to what it was given, goes no further than a log line.
 */
export function createEventPublisher({
  onEvent,
  tracing,
  logger,
}: PublisherDeps): (event: AuthEvent) => void {
  return (event) => {
    tracing.event(event.surface, event.type)
    if (onEvent === undefined) return
    // The log gets only the type of the event: the account and the address are not for it.
    const report = (error: unknown): void => {
      logger.error('onEvent failed', { type: event.type, ...describeError(error) })
    }
    try {
      // A copy: records, and sometimes a stored document, share members with the original.
      Promise.resolve(onEvent(structuredClone(event))).catch(report)
    } catch (error) {
      report(error)
    }
  }
}

interface EmitDeps {
  readonly surface: Surface
  readonly clock: Clock
  readonly publish: (event: AuthEvent) => void
}

/** Binds `emit` to a surface: it fills in the header that all events have. */
export function createEmit({ surface, clock, publish }: EmitDeps): Emit {
  return (type, source, facts) => {
    const { ip, userAgent } = source ?? { ip: null, userAgent: null }
    const header = { type, surface, at: facts.at ?? clock.now(), ip, userAgent }
    // Twice: first in order, and last in effect, since an object may have more members than its type.
    // The cast: the header and the facts of a type make the event of this type.
    publish({ ...header, ...facts, ...header } as AuthEvent)
  }
}
