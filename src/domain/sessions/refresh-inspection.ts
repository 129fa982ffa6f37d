import { settledValue } from '../../concurrency/settled-value.js'
import type { RefreshClaims } from '../../crypto/verify-token.js'
import {
  type Delivery,
  judgeRefresh,
  type Presented,
  type RefreshDecision,
} from '../../engine/refresh-rules.js'
import { AuthError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/refresh-family.js'
import { isHuman, type User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/denylist.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { EndReason } from '../../ports/session-event.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { sessionDenylistId } from './denylist-entries.js'
import { createMisuseAlarm } from './misuse-alarm.js'
import { type Refusal, refusalOf, unfinished } from './refresh-refusal.js'
import type { Ended } from './session-ending.js'
import type { SessionTermination } from './session-termination.js'
import type { Tokens } from './tokens.js'

/** A refresh token as it was shown; without one, the answer is the plain `unauthorized`. */
export interface ShownToken {
  readonly token: string | null
  readonly delivery: Delivery
  /** What the browser or app is known by at logins; null without. */
  readonly recognitionId: string | null
}

/** A presented refresh token and all that was read to judge it. Nothing is consumed yet. */
export interface Attempt {
  readonly claims: RefreshClaims
  /** How the token was shown; null where that makes no difference. */
  readonly delivery: Delivery | null
  readonly source: RequestSource
  readonly nextJti: string | null
  readonly user: User | null
  readonly entry: DenylistEntry | null
  readonly graceMs: number
  readonly absoluteTtlMs: number | null
  readonly accessTtlMs: number
}

/** An attempt, and what was begun beside its reads. */
export interface Begun<T> extends Attempt {
  readonly beside: T
}

interface Row {
  readonly family: RefreshFamily | null
  readonly decision: RefreshDecision<EndReason>
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
   * Of these tokens of one session: where one was retired, which is misuse wherever it is shown, the
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

interface Deps
  extends Pick<
    SurfaceContext,
    'surface' | 'collections' | 'denylist' | 'clock' | 'settings' | 'emit' | 'logger'
  > {
  readonly limits: RateLimiter
}

export function createRefreshInspection(
  deps: Deps,
  tokens: Tokens,
  sessions: SessionTermination,
): RefreshInspection {
  const { surface, collections, clock } = deps
  const { users, families } = collections
  const alarm = createMisuseAlarm(deps)

  async function claimsOf(token: string | null): Promise<RefreshClaims> {
    if (token === null) throw new AuthError('unauthorized')
    const verified = await tokens.verifyRefresh(token)
    if (verified.ok) return verified.claims
    if (verified.reason === 'audience') throw new AuthError('audience_mismatch')
    if (verified.reason === 'unknownKey') {
      throw new AuthError('refresh_token_invalid', { cause: new UnknownKeyError() })
    }
    throw new AuthError(
      verified.reason === 'expired' ? 'refresh_token_expired' : 'refresh_token_invalid',
    )
  }

  /**
   * All of the reads are waited for, and then judged in one order: of a session on the denylist nothing
   * else needs to be known, so that another read's failure cannot stand in for its refusal.
   */
  async function begin<T>(
    { token, delivery }: Omit<ShownToken, 'recognitionId'>,
    source: RequestSource,
    nextJti: string | null,
    beside: (claims: RefreshClaims) => T,
  ): Promise<Begun<T>> {
    const claims = await claimsOf(token)
    const [begun, policy, owner, listing] = await Promise.allSettled([
      // In an object: it goes on for longer than the limit is asked.
      deps.limits.check('refreshFamily', claims.sid).then(() => ({ beside: beside(claims) })),
      deps.settings(),
      users.get(claims.sub),
      listed(claims),
    ])
    const { beside: work } = settledValue(begun)
    const settings = settledValue(policy)
    const entry = settledValue(listing)
    return {
      claims,
      delivery,
      source,
      nextJti,
      user: entry !== null && owner.status === 'rejected' ? null : settledValue(owner),
      entry,
      graceMs: settings.refreshReuseGrace,
      absoluteTtlMs: settings.sessionAbsoluteTTL,
      accessTtlMs: settings.accessTokenTTL,
      beside: work,
    }
  }

  async function listed({ sid }: RefreshClaims): Promise<DenylistEntry | null> {
    const id = sessionDenylistId(surface, sid)
    const entries = await deps.denylist.find([id])
    const now = clock.now()
    return entries.find((entry) => entry.id === id && entry.expiresAt > now) ?? null
  }

  function judge(
    attempt: Attempt,
    family: RefreshFamily | null,
    user: User | null,
  ): RefreshDecision<EndReason> {
    // A row whose user is not the token's was never minted together with it.
    const own = family !== null && family.userId === attempt.claims.sub ? family : null
    return judgeRefresh(own, presentedBy(attempt, user), attempt, clock.now())
  }

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

  /**
   * The row, and what it says of the token. A row older than the token is read once more before
   * the user is signed out over it: a store that lags looks like one that was rolled back.
   */
  async function readRow(attempt: Attempt, user: User | null): Promise<Row> {
    const family = await families.get(attempt.claims.sid)
    const decision = judge(attempt, family, user)
    if (decision.outcome !== 'rolledBack') return { family, decision }
    const newest = await families.get(attempt.claims.sid)
    return { family: newest, decision: judge(attempt, newest, user) }
  }

  async function requireStanding(attempt: Attempt): Promise<User> {
    const { user, entry } = attempt
    if (entry === null && user !== null && user.enabled && isHuman(user)) return user
    const row = await readRow(attempt, user)
    const { outcome } = row.decision
    if (outcome === 'revoked') return refuse(attempt, row)
    // Also when its ending was interrupted: the alarm has not been raised yet. A session over its
    // maximum age is never called anything else.
    const isMisuse = outcome === 'replay' || outcome === 'rolledBack'
    if (isMisuse && entry?.reason !== 'max_age') return refuse(attempt, row)
    // The row does not say so yet: an ending was begun and not finished. Finish it.
    if (entry !== null) return refuseWith(attempt, unfinished(entry))
    if (outcome === 'unknown' || (user !== null && !isHuman(user))) {
      throw new AuthError('refresh_token_invalid')
    }
    return refuseWith(attempt, { code: 'session_revoked', end: 'admin' })
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
      const row = await readRow(attempt, null)
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

  return { begin, requireStanding, readRow, refuse, endIfRetired, endShown }
}

/** What a token of this user shows, to be judged against the row. */
export function presentedBy({ claims, nextJti, delivery }: Attempt, user: User | null): Presented {
  const epoch = user === null ? null : requiredEpoch(user, claims.sid)
  return { generation: claims.gen, nextJti, requiredEpoch: epoch, delivery }
}

/** Null for the one session the user's last "end all others" spared. */
export function requiredEpoch(user: User, sessionId: string): number | null {
  return user.keptSessionId === sessionId ? null : user.sessionEpoch
}
