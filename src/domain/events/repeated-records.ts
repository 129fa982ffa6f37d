import { sha256 } from '../../crypto/secrets.js'
import { networkOf } from '../../engine/addresses.js'
import { fewPerWindow } from '../../engine/limits.js'
import type { AuthEvent } from '../../ports/events.js'
import type { Clock } from '../../ports/host.js'

const windowMs = 60 * 60 * 1000
/** Records of one matter in a window, each from elsewhere. */
const mostPlaces = 8

/** What a record of an event says. */
interface Routine {
  /** What several events are about. */
  readonly matter: readonly unknown[]
  /** Where one of them came from; left out where that is a part of the matter. */
  readonly place?: string
}

/**
 * Tells whether an event says what a record of the last hour says. Two tabs cause re-issues all day, machines ask for
 * tokens all day, a user may change a name all day, and a stranger may show invalid tokens all day, while records are
 * kept for a year. A caller from elsewhere has another address or browser, and so leaves a record of its own.
 */
export function repeatedRecords({
  clock,
}: {
  readonly clock: Clock
}): (event: AuthEvent) => boolean {
  const isNews = fewPerWindow(mostPlaces, windowMs)
  return (event) => {
    const routine = routineOf(event)
    if (routine === null) return false
    const { matter, place = '' } = routine
    return !isNews(JSON.stringify([event.type, ...matter]), place, clock.now())
  }
}

/** Null for an event that is always recorded. */
function routineOf(event: AuthEvent): Routine | null {
  const { ip } = event
  // Callers choose it, so only a few of them are recorded. Hashed, because it may be long.
  const agent = () => sha256(event.userAgent ?? '')
  switch (event.type) {
    case 'refresh.reissued':
      return { matter: [event.sessionId, event.otherClient, networkOf(ip)], place: agent() }
    case 'serviceToken.issued':
      return { matter: [event.credentialId, networkOf(ip)], place: agent() }
    case 'request.refused':
      return event.userId === null
        ? { matter: [event.operation, event.reason, networkOf(ip)] }
        : null
    case 'account.updated':
      return isOwnName(event) ? { matter: [event.targetId], place: networkOf(ip) } : null
    default:
      return null
  }
}

type Updated = Extract<AuthEvent, { readonly type: 'account.updated' }>

/** A name decides nothing, and its owner may change it a hundred times a minute. */
function isOwnName({ actorId, targetId, fields }: Updated): boolean {
  return actorId === targetId && fields.every((field) => field === 'name')
}
