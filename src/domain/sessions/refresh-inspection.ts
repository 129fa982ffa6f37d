import type { RefreshClaims } from '../../crypto/tokens.js'
import type { Delivery } from '../../engine/refresh-rules.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { EndReason } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { createMisuseAlarm } from './misuse-alarm.js'
import type { Attempt, Begun, RefreshReading, Row } from './refresh-reading.js'
import { isStanding, type Refusal, refusalOf, refusalOfStanding } from './refresh-refusal.js'
import type { Ended } from './session-ending.js'
import type { SessionTermination } from './session-termination.js'

/** A refresh token as it was shown; without one, the answer is the plain `unauthorized`. */
export interface ShownToken {
  readonly token: string | null
  readonly delivery: Delivery
  /** What the browser or app is known by at logins; null without. */
  readonly recognitionId: string | null
}

/** Looks at refresh tokens and refuses those that are worth nothing, ending what must end. */
export interface RefreshInspection {
  /**
   * Reads all that a decision needs, and consumes nothing. `beside` is begun for a genuine token within
   * its limit, while the reads are under way; nothing may come of it before the decision.
   */
  begin<T>(
    { token, delivery }: Omit<ShownToken, 'recognitionId'>,
    source: RequestSource,
    nextJti: string | null,
    beside: (claims: RefreshClaims) => T,
  ): Promise<Begun<T>>
  /**
   * The user, who may hold a session. Throws for any other user and for a session on the denylist:
   * their tokens are never consumed.
   */
  requireStanding(attempt: Attempt): Promise<User>
  /** The row, and what it says of the token. */
  readRow(attempt: Attempt, user: User | null): Promise<Row>
  /** Throws the code of a decision that refuses, after the ending it calls for. */
  refuse(attempt: Attempt, row: Row): Promise<never>
  /**
   * Looks at these tokens of one session. If one was retired, which is misuse wherever it is shown, the
   * session is ended, and the alarm raised.
   */
  endIfRetired(tokens: readonly RefreshClaims[], source: RequestSource): Promise<void>
  /** The same, and the owner's logout otherwise: what the row says is read while the session is listed. */
  endShown(session: Ended, tokens: readonly RefreshClaims[], source: RequestSource): Promise<void>
}

/** A retired token, and the alarm over it. */
interface Misuse {
  readonly claims: RefreshClaims
  readonly emit: () => void
}

interface Deps extends Pick<SurfaceContext, 'collections' | 'settings' | 'emit' | 'logger'> {
  readonly limits: RateLimiter
}

export function createRefreshInspection(
  deps: Deps,
  reading: RefreshReading,
  sessions: SessionTermination,
): RefreshInspection {
  const alarm = createMisuseAlarm(deps)

  /** Carries out the ending a refusal calls for and throws its code. */
  async function refuseWith(
    attempt: Pick<Attempt, 'claims' | 'source'>,
    refusal: Refusal,
    emitAlarm: () => void = () => {},
  ): Promise<never> {
    const { claims, source } = attempt
    if (refusal.end === null) throw new AuthError(refusal.code)
    const first = await endFor(claims, refusal.end, source, emitAlarm)
    // A replay alarms once; a later caller learns that the session was ended.
    const late = !first && refusal.code === 'refresh_token_reused'
    throw new AuthError(late ? 'session_revoked' : refusal.code)
  }

  /** True for the call that ended the session, or that alarms in its place; `emitAlarm` was called. */
  async function endFor(
    { sid: id, sub: userId }: RefreshClaims,
    reason: EndReason,
    source: RequestSource,
    emitAlarm: () => void,
  ): Promise<boolean> {
    if (await sessions.end({ id, userId }, reason, source, { onEnded: emitAlarm })) return true
    if (reason !== 'replay' || !(await alarm.isOwed(id))) return false
    emitAlarm()
    return true
  }

  async function refuse(attempt: Attempt, row: Row): Promise<never> {
    const { decision } = row
    if (decision.outcome === 'revoked') {
      // Denylist and row are in place, in this order; the document may not be yet.
      await sessions.closeDocument(attempt.claims.sid, decision.reason ?? 'admin')
    }
    const refusal = refusalOf(decision)
    if (refusal === null) {
      deps.logger.error('a refresh was refused by the store for no reason the row explains')
      throw new AuthError('session_enforcement_unavailable')
    }
    return refuseWith(attempt, refusal, () => alarm.emit(attempt, row))
  }

  async function begin<T>(
    { token, delivery }: Omit<ShownToken, 'recognitionId'>,
    source: RequestSource,
    nextJti: string | null,
    beside: (claims: RefreshClaims) => T,
  ): Promise<Begun<T>> {
    const claims = await reading.claimsOf(token)
    const shown = { claims, delivery, source, nextJti }
    // In an object: it goes on for longer than the limit is asked.
    const limited = deps.limits
      .check('refreshFamily', claims.sid)
      .then(() => ({ beside: beside(claims) }))
    const { beside: begun, ...attempt } = await reading.read(shown, limited)
    return { ...attempt, beside: begun.beside }
  }

  async function requireStanding(attempt: Attempt): Promise<User> {
    if (isStanding(attempt)) return attempt.user
    const row = await reading.readRow(attempt, attempt.user)
    const refusal = refusalOfStanding(attempt, row.decision)
    return refusal === 'ofRow' ? refuse(attempt, row) : refuseWith(attempt, refusal)
  }

  async function misuseIn(
    tokens: readonly RefreshClaims[],
    source: RequestSource,
  ): Promise<Misuse | null> {
    if (tokens.length === 0) return null
    const { refreshReuseGrace, accessTokenTTL } = await deps.settings()
    for (const claims of tokens) {
      const attempt = {
        ...{ claims, delivery: null, source, nextJti: null, user: null, entry: null },
        ...{ graceMs: refreshReuseGrace, absoluteTtlMs: null, accessTtlMs: accessTokenTTL },
      }
      const row = await reading.readRow(attempt, null)
      if (row.decision.outcome === 'replay') return { claims, emit: () => alarm.emit(attempt, row) }
    }
    return null
  }

  async function endIfRetired(
    tokens: readonly RefreshClaims[],
    source: RequestSource,
  ): Promise<void> {
    const misuse = await misuseIn(tokens, source)
    if (misuse !== null) await endFor(misuse.claims, 'replay', source, misuse.emit)
  }

  async function endShown(
    session: Ended,
    tokens: readonly RefreshClaims[],
    source: RequestSource,
  ): Promise<void> {
    const { ended, judgement } = await sessions.endJudged(session, source, async () => {
      const misuse = await misuseIn(tokens, source)
      if (misuse === null) return { reason: 'logout', misuse }
      return { reason: 'replay', misuse, onEnded: misuse.emit }
    })
    const { misuse } = judgement
    if (misuse !== null && !ended && (await alarm.isOwed(session.id))) misuse.emit()
  }

  const { readRow } = reading
  return { begin, requireStanding, readRow, refuse, endIfRetired, endShown }
}
