import type { AccessClaims, RefreshClaims } from '../../crypto/tokens.js'
import { AuthError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily, Session } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { tokensToEnd } from './choose-token.js'
import { raiseSessionEpoch } from './raise-session-epoch.js'
import type { RefreshInspection } from './refresh-inspection.js'
import type { Ended } from './session-ending.js'
import type { Sessions } from './sessions.js'
import type { Judged, Tokens } from './tokens.js'

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

export interface Logout {
  /**
   * Ends every session that a valid credential was shown for; one that has ended already is no error.
   * Cookies of several people all count, the newest of each person. Beside a valid credential, one that is
   * not valid changes nothing; alone it throws `unauthorized`, `audience_mismatch` for one of the other
   * surface, and the error of a key that cannot be judged now. With `everywhere`, it throws `session_revoked`
   * if all credentials are of sessions that were ended: they end no other. An expired access token is not
   * valid. A credential that verifies has no limit; junk has one per network address, and throws
   * `rate_limited` beyond it.
   */
  logout(input: LogoutInput, source: RequestSource): Promise<void>
}

interface Deps extends Pick<SurfaceContext, 'collections'> {
  readonly limits: RateLimiter
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

interface Services {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly inspection: RefreshInspection
}

export function createLogout(deps: Deps, { tokens, sessions, inspection }: Services): Logout {
  const { collections } = deps
  const { users, families } = collections

  /** Throws what a request is refused with that has shown nothing valid. */
  async function refuse(reasons: readonly Reason[], address: string): Promise<never> {
    const undecided = reasons.find((reason) => typeof reason === 'object')
    if (undecided !== undefined) throw undecided.error
    // Counted after the look at it: junk must not use up what the owner's logout needs.
    await deps.limits.check('logoutPerIp', address)
    if (reasons.includes('audience')) throw new AuthError('audience_mismatch')
    const cause = reasons.includes('unknownKey') ? new UnknownKeyError() : null
    throw new AuthError('unauthorized', { cause })
  }

  async function judge(token: string): Promise<RefreshClaims | Reason> {
    try {
      const verified = await tokens.verifyRefresh(token)
      // One from the future is genuine: a user whose session a wrong clock began can still sign out.
      return verified.ok || verified.reason === 'early' ? verified.claims : verified.reason
    } catch (error) {
      return { error }
    }
  }

  /** Every session that a valid credential was shown for. Throws `unauthorized` without any. */
  async function shown({
    bearer,
    refreshCookies,
    refreshToken,
    address,
  }: LogoutInput): Promise<readonly Shown[]> {
    const owners = new Map<string, Shown>()
    const reasons: Reason[] = []
    if (bearer?.sid !== undefined) {
      owners.set(bearer.sid, { id: bearer.sid, userId: bearer.sub, tokens: [] })
    }
    const fromCookies = await tokensToEnd(tokens, refreshCookies)
    for (const token of [...fromCookies, ...(refreshToken === undefined ? [] : [refreshToken])]) {
      const judged = await judge(token)
      if (typeof judged === 'object' && 'sid' in judged) {
        const { sid: id, sub: userId } = judged
        const before = owners.get(id)?.tokens ?? []
        owners.set(id, { id, userId, tokens: [...before, judged] })
      } else reasons.push(judged)
    }
    return owners.size > 0 ? [...owners.values()] : refuse(reasons, address)
  }

  /**
   * A session that was ended itself, a stolen one perhaps, must not end the owner's others. If all sessions
   * of its time were ended together by a logout, this is that request sent once more.
   */
  async function standingOf(id: string, userId: string): Promise<Standing> {
    const family = await families.get(id)
    if (family !== null && family.revokedAt === null) return { kind: 'live' }
    if (family === null) {
      // Its row expired and was swept; an access token minted before lives on.
      const document = await collections.sessions.get(id)
      return { kind: document?.active === true ? 'rowless' : 'ended' }
    }
    const user = await users.get(userId)
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
  async function endOlder(user: User, own: RefreshFamily, source: RequestSource): Promise<void> {
    const which = {
      userId: user.id,
      family: ({ sessionEpoch }: RefreshFamily) => sessionEpoch < user.sessionEpoch,
      rowless: ({ loginAt }: Session) => loginAt < own.loginAt,
    }
    await sessions.endMatching(which, 'logout', source)
  }

  async function endEverywhere(
    { id, userId }: Ended,
    source: RequestSource,
  ): Promise<Standing['kind']> {
    const standing = await standingOf(id, userId)
    const { kind } = standing
    if (kind === 'live' || kind === 'rowless') {
      await raiseSessionEpoch(users, userId)
      // This one last: while it lives, the same request again ends what was left.
      await sessions.endAll(userId, 'logout', source, { except: id })
    }
    if (kind === 'done' && standing.user !== null) {
      await endOlder(standing.user, standing.family, source)
    }
    const rowless = kind === 'rowless' ? ({ refreshRowMissing: true } as const) : {}
    await sessions.end({ id, userId }, 'logout', source, rowless)
    return kind
  }

  return {
    async logout(input, source) {
      const owners = await shown(input)
      if (!input.everywhere) {
        for (const { tokens: shownTokens, ...session } of owners)
          await inspection.endShown(session, shownTokens, source)
        return
      }
      // A retired token ends its session, with the alarm, and speaks for no other.
      for (const owner of owners) await inspection.endIfRetired(owner.tokens, source)
      let isAllRefused = true
      for (const owner of owners)
        if ((await endEverywhere(owner, source)) !== 'ended') isAllRefused = false
      // Beside one that goes, it may be a cookie that was planted.
      if (isAllRefused) throw new AuthError('session_revoked')
    },
  }
}
