import { isUuid } from '../../crypto/secrets.js'
import type { RefreshClaims } from '../../crypto/token-format.js'
import { capReached } from '../../engine/refresh-rules.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { type Actor, actBy, type SignedIn, storedText } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type Attempt,
  absoluteEnd,
  chooseToken,
  emitOverdue,
  failClosed,
  isServed,
  isStanding,
  isUsualPlace,
  judgeAttempt,
  noteServed,
  type Refusal,
  type Row,
  readAttempt,
  readRow,
  refreshClaimsOf,
  refusalOf,
  refusalOfStanding,
  requiredEpoch,
} from './refresh-reading.js'
import { closeDocument, endAllSessions, endSession, raiseSessionEpoch } from './session-endings.js'
import { type AccessGrant, isSignerInForce, mintAccess, verifyRefresh } from './tokens.js'

// Lists and ends the sessions of the signed-in user.

export interface ListedSession extends SessionEntry {
  readonly current: boolean
}

/** The newest first: a hundred of the last 90 days, and up to two hundred others that go on. */
export async function listOwnSessions(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
): Promise<readonly ListedSession[]> {
  const entries = await sessionsOf(ctx, user)
  return entries.map((one) => ({ ...one, current: one.id === sessionId }))
}

/** May be repeated. Throws `session_not_found`, also for another user's session. */
export async function endOwnSession(
  ctx: SurfaceContext,
  { user }: SignedIn,
  sessionId: string,
  source: RequestSource,
): Promise<void> {
  const [family, document] = isUuid(sessionId)
    ? await Promise.all([
        ctx.collections.families.get(sessionId),
        ctx.collections.sessions.get(sessionId),
      ])
    : [null, null]
  // One that outlives 90 days has a row alone.
  const isOwn =
    family?.userId === user.id || (document?.userId === user.id && isKeptSession(ctx, document))
  if (!isOwn) throw new AuthError('session_not_found')
  if (family === null) {
    // The row expired and was swept; an access token minted before may live on.
    if (document?.active === true)
      await endSession(ctx, document, 'logout', source, { refreshRowMissing: true })
  } else if (family.revokedAt === null) {
    await endSession(ctx, family, 'logout', source)
  } else {
    await closeDocument(ctx, sessionId, family.revokedReason ?? 'admin')
  }
}

/**
 * Ends sessions from the host's code: no permission is checked. `by` names the actor for events and
 * audit records. Throws `AuthError` `invalid_request` for an id that is no text, and `service_unavailable` when
 * the store fails.
 */
export interface SessionAdministration {
  /**
   * Ends one session on every replica: from the moment this resolves, its access tokens get 401
   * `session_revoked`. True if this call ended it, false if it did not exist or had ended before.
   * Repeat it after a rejection to complete it.
   */
  terminateSession(sessionId: string, by?: Actor): Promise<boolean>
  /**
   * Ends every session of a user, including sessions that are being opened meanwhile. Repeat it after
   * a rejection to complete it.
   */
  terminateSessionsOf(userId: string, by?: Actor): Promise<void>
}

export function createSessionAdministration(ctx: SurfaceContext): SessionAdministration {
  /** The row expired and was swept; an access token minted before may live on. */
  async function endSwept(
    sessionId: string,
    source: RequestSource,
    actorId: string | null,
  ): Promise<boolean> {
    const document = await ctx.collections.sessions.get(sessionId)
    if (document === null || !document.active) return false
    return endSession(ctx, document, 'admin', source, { actorId, refreshRowMissing: true })
  }

  return {
    async terminateSession(sessionId, by = {}) {
      const { actorId, source } = actBy(by)
      const id = storedText('sessionId', sessionId)
      const family = await ctx.collections.families.get(id)
      if (family === null) return endSwept(id, source, actorId)
      if (family.revokedAt === null) return endSession(ctx, family, 'admin', source, { actorId })
      await closeDocument(ctx, id, family.revokedReason ?? 'admin')
      return false
    },
    async terminateSessionsOf(userId, by = {}) {
      const { actorId, source } = actBy(by)
      const id = storedText('userId', userId)
      if ((await raiseSessionEpoch(ctx.collections.users, id)) !== null) {
        ctx.emit('session.allTerminated', source, { actorId, targetId: id })
      }
      await endAllSessions(ctx, id, 'admin', source, { actorId })
    },
  }
}

/** As `listOwnSessions`, of any user. Empty for an unknown one. */
export async function listSessionsOf(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly SessionEntry[]> {
  const user = await ctx.collections.users.get(storedText('userId', userId))
  return user === null ? [] : sessionsOf(ctx, user)
}

// The sessions of one account, as its refresh rows and records show them.

/** A session of an account. Times are epoch milliseconds. */
export interface SessionEntry
  extends Pick<Session, 'id' | 'loginAt' | 'active' | 'ip' | 'userAgent'> {
  /**
   * When the record of it goes: 90 days after the login. For a session that outlives its record, the
   * end of its idle window; `ip` and `userAgent` are null then.
   */
  readonly expiresAt: number
}

const mostListed = 100
const mostOlder = 200
const mostFamilies = 1000

/** False for a record that waits for the sweep. */
/** Expired documents wait for the sweep and no longer belong to the list. */
function isKeptSession(ctx: SurfaceContext, { expiresAt }: Session): boolean {
  return expiresAt !== null && expiresAt > ctx.clock.now()
}

/** A document does not know of an idle deadline that passed, and is the last to hear of an end. */
function goesOn(
  ctx: SurfaceContext,
  user: User,
  family: RefreshFamily,
  absoluteTtlMs: number | null,
): boolean {
  if (family.revokedAt !== null) return false
  const epoch = requiredEpoch(user, family.id)
  const now = ctx.clock.now()
  const isOver = family.expiresAt <= now || capReached(family.loginAt, absoluteTtlMs, now)
  return !isOver && (epoch === null || family.sessionEpoch === epoch)
}

/** Live sessions that are not among the newest, by their documents or, without one, by their rows. */
async function olderOf(
  ctx: SurfaceContext,
  live: readonly RefreshFamily[],
  newest: readonly Session[],
): Promise<readonly SessionEntry[]> {
  const known = new Set(newest.map(({ id }) => id))
  const older = live.filter(({ id }) => !known.has(id)).slice(0, mostOlder)
  return Promise.all(
    older.map(async (family) => {
      const document = await ctx.collections.sessions.get(family.id)
      return document !== null && isKeptSession(ctx, document)
        ? entryOf(document, true)
        : ofFamily(family)
    }),
  )
}

/** The newest first: a hundred of the last 90 days, and up to two hundred others that go on. */
async function sessionsOf(ctx: SurfaceContext, user: User): Promise<readonly SessionEntry[]> {
  const userId = user.id
  const newestFirst = true
  const [found, rows, { sessionAbsoluteTTL }] = await Promise.all([
    ctx.collections.sessions.find({ userId }, { limit: mostListed, newestFirst }),
    ctx.collections.families.find({ userId }, { limit: mostFamilies, newestFirst }),
    ctx.settings(),
  ])
  const newest = found.filter((one) => isKeptSession(ctx, one))
  const live = rows.filter((family) => goesOn(ctx, user, family, sessionAbsoluteTTL))
  const isLive = new Set(live.map(({ id }) => id))
  // By their rows: documents say "active" long after an idle deadline passed, and newer ones of
  // that kind, however many, must not hide an older session that goes on.
  const older = await olderOf(ctx, live, newest)
  const listed = newest.map((one) => entryOf(one, one.active && isLive.has(one.id)))
  return [...listed, ...older].sort((a, b) => (a.id < b.id ? 1 : -1))
}

function entryOf(document: Session, active: boolean): SessionEntry {
  const { id, loginAt, expiresAt, ip, userAgent } = document
  return { id, loginAt, expiresAt: expiresAt ?? loginAt, active, ip, userAgent }
}

function ofFamily({ id, loginAt, expiresAt }: RefreshFamily): SessionEntry {
  return { id, loginAt, expiresAt, active: true, ip: null, userAgent: null }
}

// Looks at sessions for the host's own pages and connections. It decides as `GET session` does, and
// counts and ends nothing: null for every cookie that `GET session` refuses. It writes nothing either, except that it notes
// the newest token as presented, and that `stepUp` from the host's scorer voids the session's step-up proof. All of it throws 503
// `session_enforcement_unavailable` when store, denylist or keys do not answer.

/** A session that stands, as it was found. */
export interface FoundSession {
  readonly user: User
  readonly family: RefreshFamily
  readonly claims: RefreshClaims
  readonly accessTtlMs: number
  readonly absoluteTtlMs: number | null
  /** Epoch milliseconds; null without a cap. */
  readonly absoluteExpiresAt: number | null
}

/** Who shows the cookies: where from, and what the browser is known by at logins, or null. */
interface Visitor {
  readonly source: RequestSource
  readonly recognitionId: string | null
}

async function claimsOf(
  ctx: SurfaceContext,
  cookies: readonly string[],
): Promise<RefreshClaims | null> {
  const token =
    cookies.length > 1
      ? await chooseToken((token) => verifyRefresh(ctx, token), cookies)
      : (cookies[0] ?? null)
  try {
    return await refreshClaimsOf(ctx, token)
  } catch (error) {
    if (error instanceof AuthError && error.status === 401) return null
    throw error
  }
}

function attemptOf(
  ctx: SurfaceContext,
  claims: RefreshClaims,
  { source, recognitionId: sent }: Visitor,
): Promise<Attempt> {
  const recognitionId = ctx.recognisesDevices ? sent : null
  const shown = { claims, source, recognitionId, delivery: 'cookie', nextJti: null } as const
  return readAttempt(ctx, shown, Promise.resolve(null))
}

/** Null, and the event where the next refresh has something to end. */
function refuse(
  ctx: SurfaceContext,
  attempt: Attempt,
  { decision }: Row,
  refusal: Refusal | null,
): null {
  const isThere = decision.outcome !== 'unknown'
  if (isThere && refusal !== null && refusal.end !== null) {
    emitOverdue(ctx, attempt, refusal.end)
  }
  return null
}

/** A store that lags looks like one that was rolled back, so it is asked once more. */
async function newestRow(
  ctx: SurfaceContext,
  { sid, gen }: RefreshClaims,
): Promise<RefreshFamily | null> {
  const read = () => ctx.collections.families.get(sid)
  const family = await read()
  const isOlder = family !== null && family.generation < gen
  return isOlder ? read() : family
}

/**
 * The password was changed in this session, and the browser has a newer cookie since: what was opened with an older
 * one may be a thief's, with a copy.
 */
function isBarred({ gen }: RefreshClaims, family: RefreshFamily): boolean {
  return gen < family.generation && gen <= family.noReissueUpTo
}

async function isUsual(
  ctx: SurfaceContext,
  attempt: Attempt,
  family: RefreshFamily,
): Promise<boolean> {
  return ctx.sessionRiskScorer === null || isUsualPlace(ctx, attempt, family)
}

function verdict(ctx: SurfaceContext, attempt: Attempt, row: Row): FoundSession | null {
  const { family, decision } = row
  if (!isStanding(attempt)) {
    const refusal = refusalOfStanding(attempt, decision)
    return refuse(ctx, attempt, row, refusal === 'ofRow' ? refusalOf(decision) : refusal)
  }
  if (family === null || !isServed(decision)) return refuse(ctx, attempt, row, refusalOf(decision))
  const { user, claims, accessTtlMs, absoluteTtlMs } = attempt
  const absoluteExpiresAt = absoluteEnd(attempt, family)
  return { user, family, claims, accessTtlMs, absoluteTtlMs, absoluteExpiresAt }
}

/** The session of these refresh cookies, which are all of one name. */
export function findSession(
  ctx: SurfaceContext,
  cookies: readonly string[],
  visitor: Visitor,
): Promise<FoundSession | null> {
  return failClosed(async () => {
    const claims = await claimsOf(ctx, cookies)
    if (claims === null) return null
    const attempt = await attemptOf(ctx, claims, visitor)
    const row = await readRow(ctx, attempt, attempt.user)
    const found = verdict(ctx, attempt, row)
    if (found === null) return null
    if (!(await isUsual(ctx, attempt, found.family))) {
      emitOverdue(ctx, attempt, 'risk')
      return null
    }
    await noteServed(ctx, attempt, row)
    return found
  })
}

/**
 * The same session once more, whatever cookie the browser has by now. Null as well where the signing key was replaced,
 * or the password was changed in the session and the cookie replaced since.
 */
export function findSessionAgain(
  ctx: SurfaceContext,
  { claims: before }: FoundSession,
  visitor: Visitor,
): Promise<FoundSession | null> {
  return failClosed(async () => {
    if (!(await isSignerInForce(ctx, before))) return null
    const attempt = await attemptOf(ctx, before, visitor)
    const family = await newestRow(ctx, before)
    if (family !== null && isBarred(before, family)) return null
    // The browser refreshed meanwhile, as it should. A row older than the cookie is still one that
    // was rolled back.
    const gen = Math.max(before.gen, family?.generation ?? 0)
    const newest = { ...attempt, claims: { ...before, gen } }
    const decision = judgeAttempt(ctx, newest, family, attempt.user)
    const found = verdict(ctx, newest, { family, decision })
    // What was verified, and not the copy: it is asked about again.
    return found === null ? null : { ...found, claims: before }
  })
}

/** Null where the signing key was replaced meanwhile. */
export function mintForSession(
  ctx: SurfaceContext,
  found: FoundSession,
): Promise<AccessGrant | null> {
  return failClosed(async () => {
    const { user, claims, accessTtlMs } = found
    const access = await mintAccess(ctx, user, claims.sid, claims, accessTtlMs)
    return (await isSignerInForce(ctx, claims)) ? access : null
  })
}
