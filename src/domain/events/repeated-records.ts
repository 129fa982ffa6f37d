import { networkOf } from '../../engine/network-of.js'
import { oncePerWindow } from '../../engine/once-per-window.js'
import type { AuthEvent } from '../../ports/auth-event.js'
import type { Clock } from '../../ports/clock.js'

/** One record of what is emitted over and over. */
const windowMs = 60 * 60 * 1000

/**
 * Tells whether an event says what a record of the last hour says. Two tabs cause re-issues all day, machines ask for
 * tokens all day, and a stranger may show tokens that are none all day, while records are kept for a year. A poller from
 * elsewhere is another address or browser, and so leaves a record of its own.
 */
export function repeatedRecords({
  clock,
}: {
  readonly clock: Clock
}): (event: AuthEvent) => boolean {
  const isFirst = oncePerWindow()
  return (event) => {
    const about = routineOf(event)
    return about !== null && !isFirst(JSON.stringify([event.type, ...about]), windowMs, clock.now())
  }
}

/** What two events have in common of which one is recorded; null for an event that is always recorded. */
function routineOf(event: AuthEvent): readonly unknown[] | null {
  const { ip, userAgent } = event
  switch (event.type) {
    case 'refresh.reissued':
      return [event.sessionId, event.otherClient, ip, userAgent]
    case 'serviceToken.issued':
      return [event.credentialId, ip, userAgent]
    case 'request.refused':
      // Of nobody who is known: a user agent is what the caller likes it to be.
      return event.userId === null ? [event.operation, event.reason, networkOf(ip)] : null
    default:
      return null
  }
}
