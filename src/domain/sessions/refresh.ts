import { startEarly } from '../../concurrency/promises.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import { isSameClient } from '../../engine/login-risk-rules.js'
import {
  type Delivery,
  idleDeadline,
  type RefreshDecision,
  rotationGuard,
} from '../../engine/refresh-rules.js'
import { AuthError, describeError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { EndReason } from '../../ports/events.js'
import type { Guard } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import { denylistLifeMs } from '../context/open-collections.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type Attempt,
  absoluteEnd,
  type Begun,
  chooseToken,
  emitViewed,
  failClosed,
  isStanding,
  presentedBy,
  type Refusal,
  type Row,
  readAttempt,
  readRow,
  refreshClaimsOf,
  refusalOf,
  refusalOfStanding,
  requireUsualRefresh,
  requireUsualView,
} from './refresh-reading.js'
import { closeDocument, type Ended, endJudged, endSession } from './session-endings.js'
import {
  type AccessGrant,
  clientFingerprint,
  isSignerInForce,
  mintAccess,
  mintRefresh,
  newJti,
  type RefreshGrant,
  verifyRefresh,
} from './tokens.js'

export interface Refreshed {
  readonly outcome: 'rotated' | 'reissued'
  readonly access: AccessGrant
  readonly refresh: RefreshGrant
}

export interface SessionView {
  readonly user: User
  readonly family: RefreshFamily
  readonly access: AccessGrant
  readonly absoluteExpiresAt: number | null
}

function sentBy(ctx: SurfaceContext, { recognitionId }: ShownToken): string | null {
  return ctx.recognisesDevices ? recognitionId : null
}

/** The one guarded write: won, missed by its guard, or lost with its answer. */
async function consume(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User,
  next: Pick<RefreshFamily, 'generation' | 'rotatedAt' | 'rotatedTo' | 'rotatedBy' | 'expiresAt'>,
): Promise<'won' | 'missed' | 'lost'> {
  const rotation = rotationGuard(presentedBy(attempt, user), attempt, next.rotatedAt)
  const guard: Guard<RefreshFamily> = { userId: user.id, ...rotation }
  try {
    const family = await ctx.collections.families.update(attempt.claims.sid, guard, next)
    return family === null ? 'missed' : 'won'
  } catch (error) {
    ctx.logger.warn('the answer to a refresh write was lost; reading the row', describeError(error))
    return 'lost'
  }
}

/** Where the host has refreshes judged by their place. */
async function requireUsual(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User,
  mark: string,
): Promise<void> {
  if (ctx.sessionRiskScorer !== null) await requireUsualRefresh(ctx, attempt, user, mark)
}

function signRefresh(
  ctx: SurfaceContext,
  claims: RefreshClaims,
  family: Pick<RefreshFamily, 'generation' | 'expiresAt'>,
  jti: string,
): Promise<RefreshGrant> {
  return mintRefresh(ctx, { id: claims.sid, userId: claims.sub, ...family }, jti, claims)
}

async function issue(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User,
  signed: Promise<RefreshGrant>,
): Promise<Pick<Refreshed, 'access' | 'refresh'>> {
  const { claims } = attempt
  const [access, refresh] = await Promise.all([
    mintAccess(ctx, user, claims.sid, claims, attempt.accessTtlMs),
    signed,
  ])
  await requireKey(ctx, attempt)
  return { access, refresh }
}

/** A stolen key may have been replaced since: what is signed with the new one must not go to its thief. */
async function requireKey(ctx: SurfaceContext, { claims }: Pick<Attempt, 'claims'>): Promise<void> {
  if (await isSignerInForce(ctx, claims)) return
  throw new AuthError('refresh_token_invalid', { cause: new UnknownKeyError() })
}

function emitRotated(ctx: SurfaceContext, { claims, source }: Attempt, generation: number): void {
  ctx.emit('refresh.rotated', source, { userId: claims.sub, sessionId: claims.sid, generation })
}

function emitReissued(
  ctx: SurfaceContext,
  { claims, source }: Attempt,
  family: RefreshFamily,
  mark: string,
): void {
  const { sub: userId, sid: sessionId } = claims
  const { generation, rotatedBy } = family
  const otherClient = !isSameClient(rotatedBy, mark)
  ctx.emit('refresh.reissued', source, { userId, sessionId, generation, otherClient })
}

/** The browser's own among several cookies of one name; null when that cannot be told. */
export function chooseRefreshToken(
  ctx: SurfaceContext,
  shown: readonly string[],
): Promise<string | null> {
  return failClosed(() => chooseToken((token) => verifyRefresh(ctx, token), shown))
}

/**
 * Explicit refresh: rotates by one guarded write and starts a new idle window. A token that was
 * handed out in another way than it is shown is refused with `refresh_token_invalid`.
 */
export function rotateRefresh(
  ctx: SurfaceContext,
  shown: ShownToken,
  source: RequestSource,
): Promise<Refreshed> {
  return failClosed(async () => {
    const nextJti = newJti(ctx)
    const expiresAt = idleDeadline(ctx.clock.now(), ctx.idleMs)
    // A signature takes longer than the reads: begun beside them, it is mostly there when they are.
    const attempt = await beginAttempt(ctx, shown, source, nextJti, (claims) =>
      startEarly(signRefresh(ctx, claims, { generation: claims.gen + 1, expiresAt }, nextJti)),
    )
    const user = await requireLiveUser(ctx, attempt)
    const mark = clientFingerprint(
      user.id,
      source,
      sentBy(ctx, shown),
      ctx.sessionRiskScorer !== null,
    )
    await requireUsual(ctx, attempt, user, mark)
    // Minted first: when that fails, nothing has been consumed.
    const minted = await issue(ctx, attempt, user, attempt.beside)
    // Read now, and not when the signing began: a deadline may have passed since.
    const now = ctx.clock.now()
    const generation = attempt.claims.gen + 1
    const rotated = { rotatedAt: now, rotatedTo: nextJti, rotatedBy: mark }
    const next = { generation, ...rotated, expiresAt }
    const write = await consume(ctx, attempt, user, next)
    if (write === 'won') {
      emitRotated(ctx, attempt, next.generation)
      return { outcome: 'rotated', ...minted }
    }

    const row = await readRow(ctx, attempt, user)
    const { family, decision } = row
    if (decision.outcome === 'alreadyRotated') {
      emitRotated(ctx, attempt, next.generation)
      return { outcome: 'rotated', ...minted }
    }
    if (write === 'lost' && decision.outcome === 'replay') {
      // Our write may have won and been followed by others before we looked: no proof of misuse.
      throw new AuthError('session_enforcement_unavailable')
    }
    if (family === null || decision.outcome !== 'reissue') {
      return refuseAttempt(ctx, attempt, row)
    }
    const signed = signRefresh(ctx, attempt.claims, family, newJti(ctx))
    const again = await issue(ctx, attempt, user, signed)
    emitReissued(ctx, attempt, family, mark)
    return { outcome: 'reissued', ...again }
  })
}

/**
 * `GET session`, by the cookie: enforces the same limits, mints an access token and rotates nothing. A refusal ends the
 * session where a refresh would end it, and the host's scorer may end it or void its step-up proof.
 */
export function viewSession(
  ctx: SurfaceContext,
  token: string | null,
  source: RequestSource,
): Promise<SessionView> {
  return failClosed(async () => {
    const shown = { token, delivery: 'cookie' } as const
    const attempt = await beginAttempt(ctx, shown, source, null, () => null)
    const user = await requireLiveUser(ctx, attempt)
    const row = await readRow(ctx, attempt, user)
    const { family, decision } = row
    const usable = decision.outcome === 'current' || decision.outcome === 'reissue'
    if (!usable || family === null) return refuseAttempt(ctx, attempt, row)
    if (ctx.sessionRiskScorer !== null) await requireUsualView(ctx, attempt, family)
    const { claims } = attempt
    const access = await mintAccess(ctx, user, claims.sid, claims, attempt.accessTtlMs)
    await requireKey(ctx, attempt)
    emitViewed(ctx, attempt)
    return { user, family, access, absoluteExpiresAt: absoluteEnd(attempt, family) }
  })
}

// Looks at refresh tokens and refuses those that are worth nothing, ending what must end.

/** A refresh token as it was shown; without one, the answer is the plain `unauthorized`. */
export interface ShownToken {
  readonly token: string | null
  readonly delivery: Delivery
  /** What the browser or app is known by at logins; null without. */
  readonly recognitionId: string | null
}

/** A retired token, and the alarm over it. */
interface Misuse {
  readonly claims: RefreshClaims
  readonly emit: () => void
}

/** Carries out the ending a refusal calls for and throws its code. */
async function refuseWith(
  ctx: SurfaceContext,
  attempt: Pick<Attempt, 'claims' | 'source'>,
  refusal: Refusal,
  emitAlarm: () => void = () => {},
): Promise<never> {
  const { claims, source } = attempt
  if (refusal.end === null) throw new AuthError(refusal.code)
  const first = await endFor(ctx, claims, refusal.end, source, emitAlarm)
  // A replay alarms once; a later caller learns that the session was ended.
  const late = !first && refusal.code === 'refresh_token_reused'
  throw new AuthError(late ? 'session_revoked' : refusal.code)
}

/** True for the call that ended the session, or that alarms in its place; `emitAlarm` was called. */
async function endFor(
  ctx: SurfaceContext,
  { sid: id, sub: userId }: RefreshClaims,
  reason: EndReason,
  source: RequestSource,
  emitAlarm: () => void,
): Promise<boolean> {
  if (await endSession(ctx, { id, userId }, reason, source, { onEnded: emitAlarm })) return true
  if (reason !== 'replay' || !(await isMisuseOwed(ctx, id))) return false
  emitAlarm()
  return true
}

/** Throws the code of a decision that refuses, after the ending it calls for. */
async function refuseAttempt(ctx: SurfaceContext, attempt: Attempt, row: Row): Promise<never> {
  const { decision } = row
  if (decision.outcome === 'revoked') {
    // Denylist and row are in place, in this order; the document may not be yet.
    await closeDocument(ctx, attempt.claims.sid, decision.reason ?? 'admin')
  }
  const refusal = refusalOf(decision)
  if (refusal === null) {
    ctx.logger.error('a refresh was refused by the store for no reason the row explains')
    throw new AuthError('session_enforcement_unavailable')
  }
  return refuseWith(ctx, attempt, refusal, () => emitMisuse(ctx, attempt, row))
}

/**
 * Reads all that a decision needs, and consumes nothing. `beside` is begun for a genuine token within
 * its limit, while the reads are under way; nothing may come of it before the decision.
 */
async function beginAttempt<T>(
  ctx: SurfaceContext,
  { token, delivery }: Omit<ShownToken, 'recognitionId'>,
  source: RequestSource,
  nextJti: string | null,
  beside: (claims: RefreshClaims) => T,
): Promise<Begun<T>> {
  const claims = await refreshClaimsOf(ctx, token)
  const shown = { claims, delivery, source, nextJti }
  // In an object: it goes on for longer than the limit is asked.
  const limited = ctx.limits
    .check('refreshFamily', claims.sid)
    .then(() => ({ beside: beside(claims) }))
  const { beside: begun, ...attempt } = await readAttempt(ctx, shown, limited)
  return { ...attempt, beside: begun.beside }
}

/**
 * The user, who may hold a session. Throws for any other user and for a session on the denylist:
 * their tokens are never consumed.
 */
async function requireLiveUser(ctx: SurfaceContext, attempt: Attempt): Promise<User> {
  if (isStanding(attempt)) return attempt.user
  const row = await readRow(ctx, attempt, attempt.user)
  const refusal = refusalOfStanding(attempt, row.decision)
  return refusal === 'ofRow' ? refuseAttempt(ctx, attempt, row) : refuseWith(ctx, attempt, refusal)
}

async function misuseIn(
  ctx: SurfaceContext,
  tokens: readonly RefreshClaims[],
  source: RequestSource,
): Promise<Misuse | null> {
  if (tokens.length === 0) return null
  const { refreshReuseGrace, accessTokenTTL } = await ctx.settings()
  for (const claims of tokens) {
    const attempt = {
      ...{ claims, delivery: null, source, nextJti: null, user: null, entry: null },
      ...{ graceMs: refreshReuseGrace, absoluteTtlMs: null, accessTtlMs: accessTokenTTL },
    }
    const row = await readRow(ctx, attempt, null)
    if (row.decision.outcome === 'replay')
      return { claims, emit: () => emitMisuse(ctx, attempt, row) }
  }
  return null
}

/**
 * Looks at these tokens of one session. If one was retired, which is misuse wherever it is shown, the
 * session is ended, and the alarm raised.
 */
export async function endIfRetired(
  ctx: SurfaceContext,
  tokens: readonly RefreshClaims[],
  source: RequestSource,
): Promise<void> {
  const misuse = await misuseIn(ctx, tokens, source)
  if (misuse !== null) await endFor(ctx, misuse.claims, 'replay', source, misuse.emit)
}

/** The same, and the owner's logout otherwise: what the row says is read while the session is listed. */
export async function endShown(
  ctx: SurfaceContext,
  session: Ended,
  tokens: readonly RefreshClaims[],
  source: RequestSource,
): Promise<void> {
  const { ended, judgement } = await endJudged(ctx, session, source, async () => {
    const misuse = await misuseIn(ctx, tokens, source)
    if (misuse === null) return { reason: 'logout', misuse }
    return { reason: 'replay', misuse, onEnded: misuse.emit }
  })
  const { misuse } = judgement
  if (misuse !== null && !ended && (await isMisuseOwed(ctx, session.id))) misuse.emit()
}

// The alarm over a refresh token that was used although it had been retired, or was never minted.

/** Longer than a request that saw the row live can take. */
const onceWhileListed = { limit: 1, windowMs: denylistLifeMs }

/** Raises it where the decision says misuse, and does nothing otherwise. */
function emitMisuse(
  ctx: SurfaceContext,
  { claims, source }: { readonly claims: RefreshClaims; readonly source: RequestSource },
  {
    family,
    decision: { outcome },
  }: {
    readonly family: RefreshFamily | null
    readonly decision: RefreshDecision<EndReason>
  },
): void {
  if (outcome !== 'replay' && outcome !== 'rolledBack') return
  ctx.emit(outcome === 'replay' ? 'refresh.replayDetected' : 'refresh.storeRolledBack', source, {
    userId: claims.sub,
    sessionId: claims.sid,
    presentedGeneration: claims.gen,
    currentGeneration: family?.generation ?? 0,
  })
}

/**
 * A request with the newest token, between the steps of a replay's ending, finishes that ending and
 * cannot know its reason. The alarm is still owed, by one of the requests that saw the replay: true for
 * one of them.
 */
export async function isMisuseOwed(ctx: SurfaceContext, sessionId: string): Promise<boolean> {
  const family = await ctx.collections.families.get(sessionId)
  const reason = family?.revokedReason ?? 'replay'
  if (reason === 'replay' || reason === 'max_age') return false
  try {
    await ctx.limits.checkWith('replayAlarm', sessionId, onceWhileListed)
    return true
  } catch (error) {
    if (error instanceof AuthError && error.code === 'rate_limited') return false
    throw error
  }
}
