import { startEarly } from '../../concurrency/promises.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import { isSameClient } from '../../engine/login-risk-rules.js'
import {
  type Delivery,
  idleDeadline,
  lateRotationGuard,
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
  failClosed,
  isServed,
  isStanding,
  noteServed,
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
  devicesIn,
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

/** A rotation to be tried. */
interface Plan {
  /** The row by which a late rotation was judged; null for the current generation. */
  readonly late: RefreshFamily | null
  /** Of the token that it mints. */
  readonly generation: number
  /** The row must have this `device`; any, if undefined. */
  readonly device: string | null | undefined
  readonly byDevice: boolean
}

/** More than one is needed for a late rotation, or if the first id is not the login's. */
const mostTries = 4

/**
 * The first try, which saves a read of the row: it takes the token for the current one, and the first id for the one
 * that the login granted. If either is wrong, the write misses its guard.
 */
function likelyPlan({ claims, recognitionId }: Attempt): Plan {
  const [device] = devicesIn(claims.sub, recognitionId)
  return { late: null, generation: claims.gen + 1, device, byDevice: device !== undefined }
}

/** Null if the row says that nothing is to be rotated. */
function judgedPlan(
  { claims, recognitionId }: Attempt,
  { family, decision: { outcome } }: Row,
): Plan | null {
  const isLate = outcome === 'lateRotation'
  if (family === null || !(isLate || outcome === 'current')) return null
  const { generation, device } = family
  const byDevice = device !== null && devicesIn(claims.sub, recognitionId).includes(device)
  return { late: isLate ? family : null, generation: generation + 1, device, byDevice }
}

/** What a rotation writes beside what its plan says. */
type NewToken = Pick<RefreshFamily, 'rotatedAt' | 'rotatedTo' | 'rotatedBy' | 'expiresAt'>

/** The one guarded write: won, missed by its guard, or lost with its answer. */
async function consume(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User,
  { late, device, ...written }: Plan & NewToken,
): Promise<'won' | 'missed' | 'lost'> {
  const { sid: id, gen: shown } = attempt.claims
  const presented = presentedBy(attempt, user)
  const rotation =
    late === null
      ? rotationGuard(presented, attempt, written.rotatedAt)
      : lateRotationGuard(late, presented, attempt, written.rotatedAt)
  const granted = device === undefined ? {} : { device }
  const guard: Guard<RefreshFamily> = { userId: user.id, ...granted, ...rotation }
  try {
    const rotated = { ...written, shown }
    return (await ctx.collections.families.update(id, guard, rotated)) === null ? 'missed' : 'won'
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

function emitRotated(
  ctx: SurfaceContext,
  { claims, source }: Attempt,
  { late, generation }: Plan,
  mark: string,
): void {
  const facts = { userId: claims.sub, sessionId: claims.sid, generation }
  if (late === null) ctx.emit('refresh.rotated', source, facts)
  else {
    const otherClient = !isSameClient(late.rotatedBy, mark)
    ctx.emit('refresh.reissued', source, { ...facts, otherClient, late: true })
  }
}

/** Mints the newest generation once more, and writes nothing. */
async function reissue(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily,
  { user, mark }: { readonly user: User; readonly mark: string },
): Promise<Refreshed> {
  const { claims, source } = attempt
  const signed = signRefresh(ctx, claims, family, newJti(ctx))
  const minted = await issue(ctx, attempt, user, signed)
  const { generation, rotatedBy } = family
  const otherClient = !isSameClient(rotatedBy, mark)
  const facts = { userId: claims.sub, sessionId: claims.sid, generation, otherClient }
  ctx.emit('refresh.reissued', source, { ...facts, late: false })
  return { outcome: 'reissued', ...minted }
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
    const { recognitionId } = attempt
    const withPlaces = ctx.sessionRiskScorer !== null
    const mark = clientFingerprint(user.id, source, recognitionId, withPlaces)
    await requireUsual(ctx, attempt, user, mark)
    return rotate(ctx, attempt, user, { rotatedTo: nextJti, rotatedBy: mark, expiresAt })
  })
}

async function rotate(
  ctx: SurfaceContext,
  attempt: Begun<Promise<RefreshGrant>>,
  user: User,
  next: Omit<NewToken, 'rotatedAt'>,
): Promise<Refreshed> {
  let plan = likelyPlan(attempt)
  let signed = attempt.beside
  for (let tries = 1; tries <= mostTries; tries += 1) {
    // Minted first: when that fails, nothing has been consumed.
    const minted = await issue(ctx, attempt, user, signed)
    // The time is read now, and not when the signing began: a deadline may have passed since.
    const rotatedAt = ctx.clock.now()
    const write = await consume(ctx, attempt, user, { ...plan, ...next, rotatedAt })
    const row = write === 'won' ? null : await readRow(ctx, attempt, user)
    if (row === null || row.decision.outcome === 'alreadyRotated') {
      emitRotated(ctx, attempt, plan, next.rotatedBy)
      return { outcome: 'rotated', ...minted }
    }
    if (row.family !== null && row.decision.outcome === 'reissue')
      return reissue(ctx, attempt, row.family, { user, mark: next.rotatedBy })
    const again = planAfter(write, attempt, row)
    if (again === null) return refuseAttempt(ctx, attempt, row)
    plan = again
    const { generation } = plan
    signed = signRefresh(ctx, attempt.claims, { ...next, generation }, next.rotatedTo)
  }
  throw new AuthError('session_enforcement_unavailable')
}

/** Null if the row says why the token is to be refused. */
function planAfter(write: 'missed' | 'lost' | 'won', attempt: Attempt, row: Row): Plan | null {
  if (write !== 'lost') return judgedPlan(attempt, row)
  const { outcome } = row.decision
  // Our write may have won and been followed by others before we looked: no proof of misuse.
  if (outcome === 'replay' || outcome === 'lateRotation')
    throw new AuthError('session_enforcement_unavailable')
  return null
}

/**
 * `GET session`, by the cookie: enforces the same limits, mints an access token and rotates nothing. A refusal ends the
 * session where a refresh would end it, and the host's scorer may end it or void its step-up proof.
 */
export function viewSession(
  ctx: SurfaceContext,
  shown: Omit<ShownToken, 'delivery'>,
  source: RequestSource,
): Promise<SessionView> {
  return failClosed(async () => {
    const cookie = { ...shown, delivery: 'cookie' } as const
    const attempt = await beginAttempt(ctx, cookie, source, null, () => null)
    const user = await requireLiveUser(ctx, attempt)
    const row = await readRow(ctx, attempt, user)
    const { family, decision } = row
    if (family === null || !isServed(decision)) return refuseAttempt(ctx, attempt, row)
    if (ctx.sessionRiskScorer !== null) await requireUsualView(ctx, attempt, family)
    const { claims } = attempt
    const access = await mintAccess(ctx, user, claims.sid, claims, attempt.accessTtlMs)
    await requireKey(ctx, attempt)
    await noteServed(ctx, attempt, row)
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

/** Who shows tokens at a logout. */
interface Shower {
  readonly source: RequestSource
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
  { token, delivery, recognitionId: sent }: ShownToken,
  source: RequestSource,
  nextJti: string | null,
  beside: (claims: RefreshClaims) => T,
): Promise<Begun<T>> {
  const claims = await refreshClaimsOf(ctx, token)
  const recognitionId = ctx.recognisesDevices ? sent : null
  const shown = { claims, delivery, source, recognitionId, nextJti }
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
  { source, recognitionId: sent }: Shower,
): Promise<Misuse | null> {
  if (tokens.length === 0) return null
  const recognitionId = ctx.recognisesDevices ? sent : null
  const { refreshReuseGrace, accessTokenTTL } = await ctx.settings()
  for (const claims of tokens) {
    const attempt = {
      ...{ claims, delivery: null, source, recognitionId, nextJti: null, user: null, entry: null },
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
  by: Shower,
): Promise<void> {
  const misuse = await misuseIn(ctx, tokens, by)
  if (misuse !== null) await endFor(ctx, misuse.claims, 'replay', by.source, misuse.emit)
}

/** The same, and the owner's logout otherwise: what the row says is read while the session is listed. */
export async function endShown(
  ctx: SurfaceContext,
  session: Ended,
  tokens: readonly RefreshClaims[],
  by: Shower,
): Promise<void> {
  const { ended, judgement } = await endJudged(ctx, session, by.source, async () => {
    const misuse = await misuseIn(ctx, tokens, by)
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
