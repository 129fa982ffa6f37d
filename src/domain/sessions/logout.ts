import type { AccessClaims, RefreshClaims } from '../../crypto/token-format.js'
import { AuthError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { endIfRetired, endShown } from './refresh.js'
import { tokensToEnd } from './refresh-reading.js'
import {
  type Ended,
  endAllSessions,
  endMatchingSessions,
  endSession,
  raiseSessionEpoch,
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
  const { sessionEpoch, keptSessionId } = user
  const wereAllEnded = sessionEpoch !== family.sessionEpoch && keptSessionId === null
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
  if (!input.everywhere) {
    for (const { tokens: shownTokens, ...session } of owners)
      await endShown(ctx, session, shownTokens, source)
    return
  }
  // A retired token ends its session, with the alarm, and speaks for no other.
  for (const owner of owners) await endIfRetired(ctx, owner.tokens, source)
  let isAllRefused = true
  for (const owner of owners)
    if ((await endEverywhere(ctx, owner, source)) !== 'ended') isAllRefused = false
  // Beside one that goes, it may be a cookie that was planted.
  if (isAllRefused) throw new AuthError('session_revoked')
}
