import { unwrapSettled, withTimeout } from '../../concurrency/promises.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import { changedPlaces, isSameClient, loginNetworkOf } from '../../engine/login-risk-rules.js'
import {
  type Delivery,
  judgeRefresh,
  type Presented,
  type RefreshDecision,
} from '../../engine/refresh-rules.js'
import {
  AuthError,
  describeError,
  EarlyTokenError,
  type ErrorCode,
  UnknownKeyError,
} from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import { isHuman, type User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { EndReason } from '../../ports/events.js'
import type {
  SessionChange,
  SessionRiskOutcome,
  SessionRiskQuestion,
} from '../../ports/risk-scorers.js'
import type { RequestSource } from '../../ports/surface.js'
import {
  entryInForce,
  isVoidProof,
  sessionDenylistId,
  voidProof,
} from '../context/open-collections.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { endSession } from './session-endings.js'
import { clientFingerprint, devicesIn, type Judged, verifyRefresh } from './tokens.js'

// Reads what a refresh token is judged by. It writes, counts and ends nothing.

/** A presented refresh token, as it was shown. */
interface Shown {
  readonly claims: RefreshClaims
  /** How the token was shown; null where that makes no difference. */
  readonly delivery: Delivery | null
  readonly source: RequestSource
  /** What the browser or app is known by at logins; null without, and where recognition is off. */
  readonly recognitionId: string | null
  /** Null for a request that mints no refresh token. */
  readonly nextJti: string | null
}

/** A presented refresh token and all that was read to judge it. Nothing is consumed yet. */
export interface Attempt extends Shown {
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

/** What the store has of a session, and what that says of the token. */
export interface Row {
  readonly family: RefreshFamily | null
  readonly decision: RefreshDecision<EndReason>
}

const saidEveryMs = 60_000
/** How far ahead a token may be for its owner to be asked to wait: as far as the clocks of replicas may reasonably differ. */
const mostWaitMs = 5 * 60_000

function refuseEarly(ctx: SurfaceContext, { iat }: RefreshClaims): never {
  const cause = new EarlyTokenError()
  const now = ctx.clock.now()
  if (ctx.memory.isFirstEarlyToken('', saidEveryMs, now))
    ctx.logger.error(cause.message, { surface: ctx.surface })
  const isSoon = iat * 1000 - now <= mostWaitMs
  throw new AuthError(isSoon ? 'service_unavailable' : 'refresh_token_invalid', { cause })
}

async function listed(ctx: SurfaceContext, { sid }: RefreshClaims): Promise<DenylistEntry | null> {
  const id = sessionDenylistId(ctx.surface, sid)
  return entryInForce(await ctx.denylist.find([id]), [id], ctx.clock.now())
}

/** The same of a row that was read. */
export function judgeAttempt(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily | null,
  user: User | null,
): Row['decision'] {
  // A row whose user is not the token's was never minted together with it.
  const own = family !== null && family.userId === attempt.claims.sub ? family : null
  return judgeRefresh(own, presentedBy(attempt, user), attempt, ctx.clock.now())
}

/**
 * Throws `unauthorized`, `audience_mismatch`, `refresh_token_invalid` or `refresh_token_expired`, and
 * `service_unavailable` for a token that will count in a few minutes, because a clock of ours is wrong.
 */
export async function refreshClaimsOf(
  ctx: SurfaceContext,
  token: string | null,
): Promise<RefreshClaims> {
  if (token === null) throw new AuthError('unauthorized')
  const verified = await verifyRefresh(ctx, token)
  if (verified.ok) return verified.claims
  if (verified.reason === 'audience') throw new AuthError('audience_mismatch')
  if (verified.reason === 'unknownKey') {
    throw new AuthError('refresh_token_invalid', { cause: new UnknownKeyError() })
  }
  if (verified.reason === 'early') return refuseEarly(ctx, verified.claims)
  throw new AuthError(
    verified.reason === 'expired' ? 'refresh_token_expired' : 'refresh_token_invalid',
  )
}

/** Reads all that a decision needs. `beside` is waited for with it, and its failure counts first. */
/**
 * All of the reads are waited for, and then judged in one order: for a session on the denylist nothing
 * else needs to be known, so that another read's failure cannot stand in for its refusal.
 */
export async function readAttempt<T>(
  ctx: SurfaceContext,
  shown: Shown,
  beside: Promise<T>,
): Promise<Begun<T>> {
  const [begun, policy, owner, listing] = await Promise.allSettled([
    beside,
    ctx.settings(),
    ctx.collections.users.get(shown.claims.sub),
    listed(ctx, shown.claims),
  ])
  const work = unwrapSettled(begun)
  const settings = unwrapSettled(policy)
  const entry = unwrapSettled(listing)
  return {
    ...shown,
    user: entry !== null && owner.status === 'rejected' ? null : unwrapSettled(owner),
    entry,
    graceMs: settings.refreshReuseGrace,
    absoluteTtlMs: settings.sessionAbsoluteTTL,
    accessTtlMs: settings.accessTokenTTL,
    beside: work,
  }
}

/** The row, and what it says of the token. */
/**
 * A row older than the token is read once more before the user is signed out over it: a store that
 * lags looks like one that was rolled back.
 */
export async function readRow(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User | null,
): Promise<Row> {
  const family = await ctx.collections.families.get(attempt.claims.sid)
  const decision = judgeAttempt(ctx, attempt, family, user)
  if (decision.outcome !== 'rolledBack') return { family, decision }
  const newest = await ctx.collections.families.get(attempt.claims.sid)
  return { family: newest, decision: judgeAttempt(ctx, attempt, newest, user) }
}

/** What a token of this user shows, to be judged against the row. */
export function presentedBy(
  { claims, nextJti, delivery, recognitionId }: Attempt,
  user: User | null,
): Presented {
  const epoch = user === null ? null : requiredEpoch(user, claims.sid)
  const devices = devicesIn(claims.sub, recognitionId)
  return { generation: claims.gen, nextJti, requiredEpoch: epoch, delivery, devices }
}

/** Null for the one session the user's last "end all others" spared. */
export function requiredEpoch(user: User, sessionId: string): number | null {
  return user.keptSessionId === sessionId ? null : user.sessionEpoch
}

type Verify = (token: string) => Promise<Judged<RefreshClaims>>

/** More than fit into the headers that Node reads; each costs a verification. */
const mostTokens = 48
/** A signature of RS256 alone is longer. */
const shortestToken = 300

interface Genuine {
  readonly token: string
  readonly claims: RefreshClaims
  readonly isExpired: boolean
  readonly isEarly: boolean
}

interface Sorted {
  readonly genuine: readonly Genuine[]
  /** A token of a key that was looked for and is not there, so that nothing in it can be believed; or null. */
  readonly unknown: string | null
  /** A token of a key that is still looked for, and the error that says so; or null. */
  readonly undecided: { readonly token: string; readonly error: unknown } | null
}

/** Tells what was minted here from what proves nothing. */
async function sorted(verify: Verify, shown: readonly string[]): Promise<Sorted> {
  const genuine: Genuine[] = []
  let unknown: Sorted['unknown'] = null
  let undecided: Sorted['undecided'] = null
  // Copies and what is too short for a token are passed over, so that they push none aside.
  const different = [...new Set(shown)].filter(({ length }) => length > shortestToken)
  for (const token of different.slice(0, mostTokens)) {
    const verified = await verify(token).catch((error: unknown) => {
      undecided = { token, error }
      return null
    })
    if (verified === null) continue
    if ('claims' in verified) {
      const { ok, claims } = verified
      const isExpired = !ok && verified.reason === 'expired'
      genuine.push({ token, claims, isExpired, isEarly: !ok && !isExpired })
    } else if (verified.reason === 'unknownKey') unknown = token
  }
  return { genuine, unknown, undecided }
}

/**
 * The one to go by among several refresh cookies of one name. A wider `cookieDomain` leaves an older one
 * behind, of the same person: the newest counts. One that a page of another subdomain planted is of
 * another person, who would have the browser act in their session: then none counts (RFC 6265bis §8.6).
 * What was not minted here proves nothing; what has expired still shows that there was another person.
 */
export async function chooseToken(
  verify: Verify,
  shown: readonly string[],
): Promise<string | null> {
  const { genuine, unknown, undecided } = await sorted(verify, shown)
  // Beside a good token, one of a key that is still looked for decides nothing.
  if (genuine.length === 0 && undecided !== null) throw undecided.error
  // A token of a key that was looked for and is not there: alone, it is refused as such, and stays.
  if (unknown !== null && genuine.length === 0) return unknown
  const people = new Set(genuine.map(({ claims }) => claims.sub))
  if (people.size > 1) return null
  return preferred(genuine)?.token ?? shown[0] ?? null
}

/**
 * The same for a logout, which goes by the newest of each person. A planted token must not keep the
 * browser's own session alive, and the end of the session that it belongs to harms its maker alone.
 */
export async function tokensToEnd(
  verify: Verify,
  shown: readonly string[],
): Promise<readonly string[]> {
  if (shown.length < 2) return shown
  const { genuine, unknown, undecided } = await sorted(verify, shown)
  const usable = genuine.filter(({ isExpired }) => !isExpired)
  const people = [...new Set(usable.map(({ claims }) => claims.sub))]
  const toEnd = people.flatMap((sub) => {
    const own = usable.filter(({ claims }) => claims.sub === sub)
    // One of the future would open its session once its time has come.
    return [preferred(own), preferred(own.filter(({ isEarly }) => isEarly))]
  })
  const found = new Set(toEnd.flatMap((one) => (one === null ? [] : [one.token])))
  if (found.size > 0) return [...found]
  return [undecided?.token ?? unknown ?? shown[0] ?? ''].filter((token) => token !== '')
}

/**
 * Picks the newest token of one person. A token issued in the future, by a wrong clock, is picked only where no other is
 * good: it will be good later. A retired token never goes before a newer one of its session.
 */
function preferred(tokens: readonly Genuine[]): Genuine | null {
  const newestFirst = tokens.toSorted((a, b) => compare(b.claims, a.claims))
  const unretired = newestFirst.filter(
    ({ claims: { sid } }, index) =>
      newestFirst.findIndex((one) => one.claims.sid === sid) === index,
  )
  const inTime = unretired.find(({ isEarly }) => !isEarly)
  const early = unretired.find(({ isEarly }) => isEarly)
  if (inTime?.isExpired === true) return early ?? inTime
  return inTime ?? early ?? null
}

/** By login, then by generation: a retired token beside a newer one of its session must not be taken for misuse. */
function compare(a: RefreshClaims, b: RefreshClaims): number {
  if (a.authTime !== b.authTime) return a.authTime - b.authTime
  if (a.sid !== b.sid) return a.sid < b.sid ? -1 : 1
  return a.gen - b.gen
}

/** Whether a request that mints no refresh token is answered. */
export function isServed({ outcome }: RefreshDecision): boolean {
  return outcome === 'current' || outcome === 'reissue' || outcome === 'lateRotation'
}

/** A refused refresh: the code to answer, and the ending to carry out first, if any. */
export interface Refusal {
  readonly code: ErrorCode
  readonly end: EndReason | null
}

/** Whether the user may hold a session and this one is not on the denylist; the row may still refuse it. */
export function isStanding<A extends Attempt>(attempt: A): attempt is A & { readonly user: User } {
  const { user, entry } = attempt
  return entry === null && user !== null && user.enabled && isHuman(user)
}

/** What refuses an attempt that does not stand, or `ofRow` where the row gives the reason. */
export function refusalOfStanding(
  { user, entry }: Pick<Attempt, 'user' | 'entry'>,
  { outcome }: RefreshDecision<EndReason>,
): Refusal | 'ofRow' {
  if (outcome === 'revoked') return 'ofRow'
  // Also when its ending was interrupted: the alarm has not been raised yet. A session over its
  // maximum age is never called anything else.
  const isMisuse = outcome === 'replay' || outcome === 'rolledBack'
  if (isMisuse && entry?.reason !== 'max_age') return 'ofRow'
  // The row does not say so yet: an ending was begun and not finished. Finish it.
  if (entry !== null) return unfinished(entry)
  if (outcome === 'unknown' || (user !== null && !isHuman(user))) {
    return { code: 'refresh_token_invalid', end: null }
  }
  return { code: 'session_revoked', end: 'admin' }
}

/** Listed, but not ended in its row: an ending was started and not completed. */
function unfinished({ reason }: DenylistEntry): Refusal {
  return reason === 'max_age'
    ? { code: 'session_max_age_reached', end: 'max_age' }
    : { code: 'session_revoked', end: 'admin' }
}

/** Null for a decision that refuses nothing. */
export function refusalOf(decision: RefreshDecision<EndReason>): Refusal | null {
  switch (decision.outcome) {
    case 'unknown':
    case 'wrongDelivery':
      return { code: 'refresh_token_invalid', end: null }
    case 'revoked':
      return {
        code: decision.reason === 'max_age' ? 'session_max_age_reached' : 'session_revoked',
        end: null,
      }
    case 'rolledBack':
      return { code: 'refresh_token_invalid', end: 'admin' }
    case 'replay':
      return { code: 'refresh_token_reused', end: 'replay' }
    case 'expired':
      return { code: 'refresh_token_expired', end: null }
    case 'outdated':
      return { code: 'session_revoked', end: 'admin' }
    case 'maxAge':
      return { code: 'session_max_age_reached', end: 'max_age' }
    case 'current':
    case 'reissue':
    case 'lateRotation':
    case 'alreadyRotated':
      return null
  }
}

/** When the cap ends the session, in epoch milliseconds; null without a cap. */
export function absoluteEnd(
  { absoluteTtlMs: cap }: Pick<Attempt, 'absoluteTtlMs'>,
  { loginAt }: Pick<RefreshFamily, 'loginAt'>,
): number | null {
  return cap === null ? null : loginAt + cap
}

// Tells of sessions that were looked at. Page loads are many: each is told of once an hour, by this process.

type Viewed = Pick<Attempt, 'claims' | 'source'>

const windowMs = 60 * 60 * 1000

function isFirstOf(ctx: SurfaceContext, what: string, { claims, source }: Viewed): boolean {
  const key = JSON.stringify([what, claims.sid, loginNetworkOf(source.ip), source.userAgent])
  return ctx.memory.isFirstView(key, windowMs, ctx.clock.now())
}

/** For a host that looks for a second user of a session, by network and user agent. */
function emitViewed(ctx: SurfaceContext, viewed: Viewed): void {
  const { claims, source } = viewed
  if (!isFirstOf(ctx, 'viewed', viewed)) return
  ctx.emit('session.viewed', source, { userId: claims.sub, sessionId: claims.sid })
}

/**
 * After a look at the session that was answered. The newest token is noted as presented: from then on, no older one is
 * answered after the grace. A note that fails refuses nothing.
 */
export async function noteServed(
  ctx: SurfaceContext,
  attempt: Attempt,
  { family, decision: { outcome } }: Row,
): Promise<void> {
  const { claims, source } = attempt
  const { sid: sessionId, sub: userId, gen } = claims
  if (family !== null && outcome === 'lateRotation' && isFirstOf(ctx, 'late', attempt)) {
    const mark = clientFingerprint(userId, source, attempt.recognitionId, false)
    const otherClient = !isSameClient(family.rotatedBy, mark)
    const facts = { userId, sessionId, generation: family.generation, otherClient }
    ctx.emit('refresh.reissued', source, { ...facts, late: true })
  }
  // If the device did not rotate last, no older token is answered anyway.
  if (outcome === 'current' && family?.byDevice === true && family.shown < gen) {
    const guard = { generation: gen, shown: { lte: gen - 1 }, revokedAt: null }
    await ctx.collections.families
      .update(sessionId, guard, { shown: gen })
      .catch((error: unknown) => {
        ctx.logger.warn('a refresh token was not noted as presented', describeError(error))
      })
  }
  emitViewed(ctx, attempt)
}

/** The next refresh ends the session for this reason; what looked at it ended nothing. */
export function emitOverdue(ctx: SurfaceContext, viewed: Viewed, reason: EndReason): void {
  const { claims, source } = viewed
  if (!isFirstOf(ctx, reason, viewed)) return
  ctx.emit('session.overdue', source, { userId: claims.sub, sessionId: claims.sid, reason })
}

/** Clients keep their tokens on this code and try again; any other 503 would say less. */
export async function failClosed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AuthError && error.code === 'service_unavailable') {
      throw new AuthError('session_enforcement_unavailable', { cause: error })
    }
    throw error
  }
}

// Has the host's scorer judge a session that shows up in another network or with another user agent than at its last
// refresh. All of it comes before anything is consumed, and throws `session_revoked` after it ended the session.

interface Verdict {
  readonly outcome: SessionRiskOutcome
  readonly changed: readonly SessionChange[]
  /** False for a scorer that gave no answer. */
  readonly assessed: boolean
}

/** How long the scorer may think, as at a login. */
const timeoutMs = 2000

const outcomes: readonly SessionRiskOutcome[] = ['none', 'stepUp', 'end']

/** Null for a scorer that gave no answer. */
async function ask(
  ctx: SurfaceContext,
  question: SessionRiskQuestion,
): Promise<SessionRiskOutcome | null> {
  const { sessionRiskScorer: scorer } = ctx
  if (scorer === null) return 'none'
  try {
    const answer: unknown = await withTimeout(scorer.assess(question), timeoutMs, ctx.clock)
    const outcome = outcomes.find((one) => one === Reflect.get(Object(answer), 'outcome'))
    if (outcome === undefined) throw new TypeError('no outcome')
    return outcome
  } catch (cause) {
    ctx.logger.error('the session risk scorer failed', describeError(cause))
    return null
  }
}

async function loginOf(
  ctx: SurfaceContext,
  sessionId: string,
): Promise<SessionRiskQuestion['login']> {
  const session = await ctx.collections.sessions.get(sessionId)
  if (session === null) return null
  const { loginAt: at, ip, userAgent, loginMethod: method, mfaMethod } = session
  return { at, ip, userAgent, method, mfaMethod }
}

async function judge(
  ctx: SurfaceContext,
  { claims, source }: Attempt,
  { rotatedBy }: RefreshFamily,
  mark: string,
): Promise<Verdict> {
  const changed = changedPlaces(rotatedBy, mark)
  if (changed.length === 0) return { outcome: 'none', changed, assessed: true }
  const { sub: userId, sid: sessionId } = claims
  const about = { surface: ctx.surface, userId, sessionId, at: ctx.clock.now(), ...source, changed }
  const answered = await ask(ctx, { ...about, login: await loginOf(ctx, sessionId) })
  return { outcome: answered ?? 'stepUp', changed, assessed: answered !== null }
}

/** A void proof that is there stays: for a moment without it, the login would count as recent again. */
async function voidProofs(ctx: SurfaceContext, sessionId: string, userId: string): Promise<void> {
  const proof = voidProof(sessionId, userId, ctx.clock.now())
  if (await ctx.collections.stepUpProofs.insert(proof)) return
  if (isVoidProof(await ctx.collections.stepUpProofs.get(sessionId))) return
  await ctx.collections.stepUpProofs.take(sessionId)
  await ctx.collections.stepUpProofs.insert(proof)
}

/** What follows of a verdict, and then its event: a client that alternates between two places leaves one an hour. */
async function follow(
  ctx: SurfaceContext,
  attempt: Attempt,
  mark: string,
  { outcome, changed, assessed }: Verdict,
): Promise<void> {
  if (outcome === 'none') return
  const { claims, source } = attempt
  const { sub: userId, sid: sessionId } = claims
  const isEnd = outcome === 'end'
  if (isEnd) await endSession(ctx, { id: sessionId, userId }, 'risk', source)
  else await voidProofs(ctx, sessionId, userId)
  const key = JSON.stringify([mark, outcome, assessed])
  // A session ends once.
  if (isEnd || ctx.memory.isNewRisk(sessionId, key, ctx.clock.now())) {
    ctx.emit('refresh.unusual', source, { userId, sessionId, changed, outcome, assessed })
  }
  if (isEnd) throw new AuthError('session_revoked')
}

function markOfView({ claims, source }: Attempt): string {
  return clientFingerprint(claims.sub, source, null, true)
}

/** Asks nothing about a place that was found usual a moment ago, by the same row. */
async function judgeView(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily,
  mark: string,
): Promise<Verdict> {
  const key = JSON.stringify([attempt.claims.sid, family.rotatedBy, mark])
  if (ctx.memory.usualViews.has(key, ctx.clock.now()))
    return { outcome: 'none', changed: [], assessed: true }
  const verdict = await judge(ctx, attempt, family, mark)
  if (verdict.outcome === 'none' && verdict.changed.length > 0)
    ctx.memory.usualViews.add(key, ctx.clock.now())
  return verdict
}

/** A refresh; `mark` is what the rotation would write of this client. */
export async function requireUsualRefresh(
  ctx: SurfaceContext,
  attempt: Attempt,
  user: User,
  mark: string,
): Promise<void> {
  const { family, decision } = await readRow(ctx, attempt, user)
  if (family === null || !isServed(decision)) return
  await follow(ctx, attempt, mark, await judge(ctx, attempt, family, mark))
}

/** `GET session`, of a row that was found usable. */
export async function requireUsualView(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily,
): Promise<void> {
  const mark = markOfView(attempt)
  await follow(ctx, attempt, mark, await judgeView(ctx, attempt, family, mark))
}

/** `sessionOf`, of the same: false where `GET session` would end the session. It ends nothing itself. */
export async function isUsualPlace(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily,
): Promise<boolean> {
  const mark = markOfView(attempt)
  const verdict = await judgeView(ctx, attempt, family, mark)
  if (verdict.outcome === 'end') return false
  await follow(ctx, attempt, mark, verdict)
  return true
}
