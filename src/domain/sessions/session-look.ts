import type { RefreshClaims } from '../../crypto/token-format.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  type Attempt,
  absoluteEnd,
  accessBounds,
  chooseToken,
  emitOverdue,
  emitViewed,
  enforced,
  isStanding,
  isUsualPlace,
  judgeAttempt,
  type Refusal,
  type Row,
  readAttempt,
  readRow,
  refreshClaimsOf,
  refusalOf,
  refusalOfStanding,
} from './refresh-reading.js'
import { type AccessGrant, isSignerInForce, mintAccess, verifyRefresh } from './tokens.js'

// Looks at sessions for the host's own pages and connections. It decides as `GET session` does, and
// counts and ends nothing: null for every cookie that `GET session` refuses. It writes nothing either, except that
// `stepUp` from the host's scorer voids the session's step-up proof. All of it throws 503
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
  source: RequestSource,
): Promise<Attempt> {
  const shown = { claims, source, delivery: 'cookie', nextJti: null } as const
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
  const isUsable = decision.outcome === 'current' || decision.outcome === 'reissue'
  if (!isUsable || family === null) return refuse(ctx, attempt, row, refusalOf(decision))
  const { user, claims, accessTtlMs, absoluteTtlMs } = attempt
  const absoluteExpiresAt = absoluteEnd(attempt, family)
  return { user, family, claims, accessTtlMs, absoluteTtlMs, absoluteExpiresAt }
}

/** The session of these refresh cookies, which are all of one name. */
export function findSession(
  ctx: SurfaceContext,
  cookies: readonly string[],
  source: RequestSource,
): Promise<FoundSession | null> {
  return enforced(async () => {
    const claims = await claimsOf(ctx, cookies)
    if (claims === null) return null
    const attempt = await attemptOf(ctx, claims, source)
    const found = verdict(ctx, attempt, await readRow(ctx, attempt, attempt.user))
    if (found === null) return null
    if (!(await isUsual(ctx, attempt, found.family))) {
      emitOverdue(ctx, attempt, 'risk')
      return null
    }
    emitViewed(ctx, attempt)
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
  source: RequestSource,
): Promise<FoundSession | null> {
  return enforced(async () => {
    if (!(await isSignerInForce(ctx, before))) return null
    const attempt = await attemptOf(ctx, before, source)
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
  return enforced(async () => {
    const { user, family, claims } = found
    const access = await mintAccess(ctx, user, claims.sid, claims, accessBounds(found, family))
    return (await isSignerInForce(ctx, claims)) ? access : null
  })
}
