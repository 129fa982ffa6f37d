import { allTried } from '../../concurrency/promises.js'
import type { AccessClaims, RefreshClaims } from '../../crypto/token-format.js'
import { sparesNone } from '../../engine/accounts.js'
import { AuthError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { pagesOf } from '../../stores/pages.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Act } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { endIfRetired, endShown } from './refresh.js'
import { requiredEpoch, tokensToEnd } from './refresh-reading.js'
import {
  type Ended,
  endAllSessions,
  endMatchingSessions,
  endSession,
  raiseSessionEpoch,
  underWayMs,
} from './session-endings.js'
import { type Judged, verifyRefresh } from './tokens.js'

export interface LogoutInput {
  /** Claims of the bearer token, when it is a valid one of this surface. */
  readonly bearer: AccessClaims | null
  /** All refresh cookies of the surface's name: a planted one can stand beside the browser's own. */
  readonly refreshCookies: readonly string[]
  /** The token of the body. */
  readonly refreshToken: string | undefined
  readonly everywhere: boolean
  /** What the browser or app is known by at logins; null without. */
  readonly recognitionId: string | null
  /** Where the request came from, as limits count it. */
  readonly address: string
}

/** Why a token is no credential. An error: it cannot be judged now, since its key is still looked for. */
type Reason =
  | Exclude<Judged<RefreshClaims>, { readonly ok: true }>['reason']
  | { readonly error: unknown }

/** Whether a session may end all others of its user, and whether that was done before. */
type Standing =
  | { readonly kind: 'live' | 'rowless' | 'ended' }
  | { readonly kind: 'done'; readonly user: User | null; readonly family: RefreshFamily }

/** A session, and the refresh tokens that were shown for it. */
interface Shown extends Ended {
  readonly tokens: readonly RefreshClaims[]
}

/** Throws what a request is refused with that has shown nothing valid. */
async function refuse(
  ctx: SurfaceContext,
  reasons: readonly Reason[],
  address: string,
): Promise<never> {
  const undecided = reasons.find((reason) => typeof reason === 'object')
  if (undecided !== undefined) throw undecided.error
  // Counted after the look at it: junk must not use up what the owner's logout needs.
  await ctx.limits.check('logoutPerIp', address)
  if (reasons.includes('audience')) throw new AuthError('audience_mismatch')
  const cause = reasons.includes('unknownKey') ? new UnknownKeyError() : null
  throw new AuthError('unauthorized', { cause })
}

async function judge(ctx: SurfaceContext, token: string): Promise<RefreshClaims | Reason> {
  try {
    const verified = await verifyRefresh(ctx, token)
    // One from the future is genuine: a user whose session a wrong clock began can still sign out.
    return verified.ok || verified.reason === 'early' ? verified.claims : verified.reason
  } catch (error) {
    return { error }
  }
}

/** Every session that a valid credential was shown for. Throws `unauthorized` without any. */
async function shown(
  ctx: SurfaceContext,
  { bearer, refreshCookies, refreshToken, address }: LogoutInput,
): Promise<readonly Shown[]> {
  const owners = new Map<string, Shown>()
  const reasons: Reason[] = []
  if (bearer?.sid !== undefined) {
    owners.set(bearer.sid, { id: bearer.sid, userId: bearer.sub, tokens: [] })
  }
  const fromCookies = await tokensToEnd((token) => verifyRefresh(ctx, token), refreshCookies)
  for (const token of [...fromCookies, ...(refreshToken === undefined ? [] : [refreshToken])]) {
    const judged = await judge(ctx, token)
    if (typeof judged === 'object' && 'sid' in judged) {
      const { sid: id, sub: userId } = judged
      const before = owners.get(id)?.tokens ?? []
      owners.set(id, { id, userId, tokens: [...before, judged] })
    } else reasons.push(judged)
  }
  return owners.size > 0 ? [...owners.values()] : refuse(ctx, reasons, address)
}

/**
 * A session that was ended itself, a stolen one perhaps, must not end the owner's others. If all sessions
 * of its time were ended together by a logout, this is that request sent once more.
 */
async function standingOf(ctx: SurfaceContext, id: string, userId: string): Promise<Standing> {
  const family = await ctx.collections.families.get(id)
  if (family !== null && family.revokedAt === null) return { kind: 'live' }
  if (family === null) {
    // Its row expired and was swept; an access token minted before lives on.
    const document = await ctx.collections.sessions.get(id)
    return { kind: document?.active === true ? 'rowless' : 'ended' }
  }
  const user = await ctx.collections.users.get(userId)
  if (user === null) return { kind: 'done', user, family }
  const { sessionEpoch, keptSessionId, keptIntentId } = user
  const isNoneKept = keptSessionId === null && keptIntentId === null
  const wereAllEnded = sessionEpoch !== family.sessionEpoch && isNoneKept
  const isRepeated = family.revokedReason === 'logout' && wereAllEnded
  return isRepeated ? { kind: 'done', user, family } : { kind: 'ended' }
}

/**
 * The request that ended this session may have died before it ended them all. Sessions that were opened since are left
 * alone: those of the user's epoch, and those that a login has written no row for yet.
 */
async function endRemaining(
  ctx: SurfaceContext,
  user: User,
  own: RefreshFamily,
  source: RequestSource,
): Promise<void> {
  const which = {
    userId: user.id,
    family: ({ sessionEpoch }: RefreshFamily) => sessionEpoch < user.sessionEpoch,
    rowless: ({ loginAt }: Session) => loginAt < own.loginAt,
  }
  await endMatchingSessions(ctx, which, 'logout', source)
}

async function endEverywhere(
  ctx: SurfaceContext,
  { id, userId }: Ended,
  source: RequestSource,
): Promise<Standing['kind']> {
  const standing = await standingOf(ctx, id, userId)
  const { kind } = standing
  if (kind === 'live' || kind === 'rowless') {
    await raiseSessionEpoch(ctx.collections.users, userId)
    // This one last: while it lives, the same request again ends what was left.
    await endAllSessions(ctx, userId, 'logout', source, { except: id })
  }
  if (kind === 'done' && standing.user !== null) {
    await endRemaining(ctx, standing.user, standing.family, source)
  }
  const rowless = kind === 'rowless' ? ({ refreshRowMissing: true } as const) : {}
  await endSession(ctx, { id, userId }, 'logout', source, rowless)
  return kind
}

/**
 * Ends every session that a valid credential was shown for; one that has ended already is no error.
 * Cookies of several people all count, the newest of each person. Beside a valid credential, one that is
 * not valid changes nothing; alone it throws `unauthorized`, `audience_mismatch` for one of the other
 * surface, and the error of a key that cannot be judged now. With `everywhere`, it throws `session_revoked`
 * if all credentials are of sessions that were ended: they end no other. An expired access token is not
 * valid. A credential that verifies has no limit; junk has one per network address, and throws
 * `rate_limited` beyond it.
 */
export async function logout(
  ctx: SurfaceContext,
  input: LogoutInput,
  source: RequestSource,
): Promise<void> {
  const owners = await shown(ctx, input)
  const by = { source, recognitionId: input.recognitionId }
  if (!input.everywhere) {
    for (const { tokens: shownTokens, ...session } of owners)
      await endShown(ctx, session, shownTokens, by)
    return
  }
  // A retired token ends its session, with the alarm, and speaks for no other.
  for (const owner of owners) await endIfRetired(ctx, owner.tokens, by)
  let isAllRefused = true
  for (const owner of owners)
    if ((await endEverywhere(ctx, owner, source)) !== 'ended') isAllRefused = false
  // Beside one that goes, it may be a cookie that was planted.
  if (isAllRefused) throw new AuthError('session_revoked')
}

// Ends what all people of a surface hold.

/** Users beside each other: others share the database meanwhile. */
const atOnce = 20
/**
 * Further than any user's epochs move between a backup and its return, when `splitStore` keeps tickets
 * or refresh rows elsewhere: those of later epochs, which were not taken back, must not count again.
 */
const leap = 1_000_000

function raised(ctx: SurfaceContext, user: User, issuedBefore: number): Partial<Omit<User, 'id'>> {
  return {
    sessionEpoch: user.sessionEpoch + leap,
    credentialEpoch: user.credentialEpoch + leap,
    deviceEpoch: user.deviceEpoch + leap,
    ...sparesNone,
    endedBefore: issuedBefore,
    updatedAt: ctx.clock.now(),
  }
}

/** The user as written now or by an earlier call; null for one that is gone or being deleted. */
function raise(
  ctx: SurfaceContext,
  id: string,
  issuedBefore: number,
): Promise<{ readonly user: User; readonly isNew: boolean } | null> {
  return retryOnConflict(10, async () => {
    const user = await ctx.collections.users.get(id)
    if (user === null || user.deletingAt !== null) return null
    if ((user.endedBefore ?? 0) >= issuedBefore) return { user, isNew: false }
    const { sessionEpoch, credentialEpoch, deviceEpoch } = user
    const guard = { sessionEpoch, credentialEpoch, deviceEpoch }
    const written = await ctx.collections.users.update(id, guard, raised(ctx, user, issuedBefore))
    return written === null ? conflict : { user: written, isNew: true }
  })
}

/** Refresh is refused to all of them already; this takes their access tokens. */
async function endOlder(
  ctx: SurfaceContext,
  user: User,
  { actorId, source }: Act,
  isNew: boolean,
): Promise<void> {
  const endedBefore = user.endedBefore ?? 0
  // This very call raised the epochs, so what is younger than `issuedBefore` ends as well.
  const before = isNew ? Math.max(endedBefore, ctx.clock.now() - underWayMs) : endedBefore
  const which = {
    userId: user.id,
    family: (family: RefreshFamily) => isOlder(family, user),
    // A login under way has its document before its row, and is younger.
    rowless: ({ loginAt }: Session) => loginAt < before,
  }
  await endMatchingSessions(ctx, which, 'admin', source, { actorId })
}

/** A later call may have spared a session that was opened since. */
function isOlder({ id, sessionEpoch }: RefreshFamily, user: User): boolean {
  const required = requiredEpoch(user, id)
  return required !== null && sessionEpoch !== required
}

async function terminateOne(
  ctx: SurfaceContext,
  id: string,
  issuedBefore: number,
  act: Act,
): Promise<number> {
  const outcome = await raise(ctx, id, issuedBefore)
  if (outcome === null) return 0
  const { user, isNew } = outcome
  if (isNew) {
    const facts = { actorId: act.actorId, targetId: id }
    ctx.emit('session.allTerminated', act.source, facts)
  }
  await endOlder(ctx, user, act, isNew)
  return isNew ? 1 : 0
}

/**
 * One guarded write a user raises all epochs and notes `issuedBefore`; then the sessions of older
 * epochs are ended. A repeated call with the same time writes to no user again and completes their
 * endings, so it leaves alone who signed in since. Answers how many users it wrote to.
 */
export async function terminateAllSessions(
  ctx: SurfaceContext,
  issuedBefore: number,
  act: Act,
): Promise<number> {
  const isTime = Number.isSafeInteger(issuedBefore) && issuedBefore > 0
  if (!isTime || issuedBefore > ctx.clock.now()) {
    const detail = 'issuedBefore must be a past time in whole epoch milliseconds.'
    throw new AuthError('invalid_request', { detail })
  }
  let written = 0
  for await (const page of pagesOf(ctx.collections.users, { kind: '' })) {
    for (let from = 0; from < page.length; from += atOnce) {
      const ids = page.slice(from, from + atOnce).map(({ id }) => id)
      const counts = await allTried(ids.map((id) => terminateOne(ctx, id, issuedBefore, act)))
      written += counts.reduce((sum, count) => sum + count, 0)
    }
  }
  return written
}
