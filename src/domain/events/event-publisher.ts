import { describeError } from '../../errors/index.js'
import type { AuthEvent } from '../../ports/events.js'
import type { Logger } from '../../ports/host.js'
import type { Tracing } from '../../ports/telemetry.js'

interface Deps {
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
}: Deps): (event: AuthEvent) => void {
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
