import { networkOf, siteOf } from '../engine/addresses.js'
import { fewPerWindow, oncePerWindow } from '../engine/limits.js'
import { AuthError, type ErrorCode } from '../errors/index.js'
import type { Emit } from '../ports/events.js'
import type { Clock } from '../ports/host.js'
import type { RequestSource } from '../ports/surface.js'

/** Where the request came from, and its account as far as that is known. */
interface Visitor {
  readonly source: RequestSource
  readonly userId: string | null
}

/** An `Authorization` header that was refused. */
interface ShownToken {
  readonly source: RequestSource
  readonly authorization: string | undefined
}

interface RefusalEvents {
  /**
   * Emits an event for a refusal that is about security, unless the domain did already. The same refusal of an account
   * is emitted once a minute for each network, and for eight networks at most; of strangers, for eight networks of a
   * site. An event may leave a record that is kept for a year, and neither a user nor a stranger must fill the database
   * or the stream of a host.
   */
  emitRefusal(operation: string, error: unknown, visitor: Visitor): void
  /**
   * On a route without a limit before it, the same for a genuine token that is not good there: one whose session was
   * ended, or of the other surface. Once an hour for each network that shows it, up to eight of one session, since its
   * holder may go on.
   */
  emitDeadToken(operation: string, error: unknown, shown: ShownToken): void
}

interface Deps {
  readonly clock: Clock
  readonly emit: Emit
}

const statuses: readonly number[] = [401, 403, 429]
/** One-time tokens, refused with 400. */
const tokenCodes: readonly ErrorCode[] = ['invalid_token', 'token_expired', 'invalid_oauth_state']
/** The domain knows more of these and emits an event of its own. */
const emittedByServices: readonly ErrorCode[] = [
  'invalid_credentials',
  'invalid_mfa_code',
  'email_not_verified',
  'refresh_token_reused',
  'invalid_client',
]

/** A signature of ours was on these tokens: strangers have none. */
const deadTokenCodes: readonly ErrorCode[] = ['session_revoked', 'audience_mismatch']
const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs
/** How many networks of one session or account have an event. */
const mostNetworks = 8

export function refusalEvents({ clock, emit }: Deps): RefusalEvents {
  const isFirst = oncePerWindow()
  const isNews = fewPerWindow(mostNetworks, hourMs)
  const isNewsOfUser = fewPerWindow(mostNetworks, minuteMs)
  // Apart: strangers come from any number of places, and must not have accounts forgotten.
  const isNewsOfSite = fewPerWindow(mostNetworks, minuteMs)
  return {
    emitRefusal(operation, error, { source, userId }) {
      if (!(error instanceof AuthError) || !isSecurityRelevant(error)) return
      const wait = error.retryAfter
      // A caller over a limit may go on asking; one event says so until the window is over. Each
      // account behind one address gets an event of its own.
      const network = networkOf(source.ip)
      const now = clock.now()
      const isNew = () => {
        if (wait !== null) return isFirst(`${operation} ${network} ${userId}`, wait * 1000, now)
        const subject = `${operation} ${error.code} ${userId ?? siteOf(source.ip)}`
        return (userId === null ? isNewsOfSite : isNewsOfUser)(subject, network, now)
      }
      if (!isNew()) return
      emit('request.refused', source, { userId, operation, reason: error.code })
    },

    emitDeadToken(operation, error, { source, authorization }) {
      if (!(error instanceof AuthError) || !deadTokenCodes.includes(error.code)) return
      const subject = `${operation} ${error.code} ${holderOf(authorization)}`
      if (!isNews(subject, networkOf(source.ip), clock.now())) return
      emit('request.refused', source, { userId: null, operation, reason: error.code })
    },
  }
}

/** The session of a token whose signature was found good, or its account where it has none. */
function holderOf(authorization = ''): string {
  const [, payload = ''] = authorization.split('.')
  try {
    const { sid, sub }: Record<string, unknown> = JSON.parse(
      Buffer.from(payload, 'base64url').toString(),
    )
    return String(sid ?? sub)
  } catch {
    return ''
  }
}

function isSecurityRelevant({ code, status }: AuthError): boolean {
  if (emittedByServices.includes(code)) return false
  return statuses.includes(status) || tokenCodes.includes(code)
}
