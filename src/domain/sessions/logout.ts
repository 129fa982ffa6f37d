import type { AccessClaims } from '../../crypto/verify-token.js'
import { AuthError, UnknownKeyError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import { raiseSessionEpoch } from './raise-session-epoch.js'
import type { RefreshInspection } from './refresh-inspection.js'
import type { Sessions } from './sessions.js'
import type { Tokens } from './tokens.js'

export interface LogoutInput {
  /** Claims of the bearer token, when it is a valid one of this surface. */
  readonly bearer: AccessClaims | null
  /** Tokens from the cookie and from the body. */
  readonly refreshTokens: readonly string[]
  readonly everywhere: boolean
  /** Where the request came from, as limits count it. */
  readonly address: string
}

export interface Logout {
  /**
   * Ends every session a valid credential was shown for; done already is done. Throws
   * `unauthorized` without any valid credential, `audience_mismatch` for one of the other surface.
   * An expired access token is not valid. A credential that verifies has no limit; junk has one per
   * network address, and throws `rate_limited` beyond it.
   */
  logout(input: LogoutInput, source: RequestSource): Promise<void>
}

interface Deps extends Pick<SurfaceContext, 'collections'> {
  readonly limits: RateLimiter
}

interface Services {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly inspection: RefreshInspection
}

export function createLogout(deps: Deps, { tokens, sessions, inspection }: Services): Logout {
  const { users, families } = deps.collections

  /** Counted after the look at it: junk must not use up what the owner's logout needs. */
  async function refuseJunk(
    code: 'unauthorized' | 'audience_mismatch',
    address: string,
    cause: UnknownKeyError | null = null,
  ) {
    await deps.limits.check('logoutPerIp', address)
    return new AuthError(code, { cause })
  }

  /** Session id → user id of every valid credential shown. Throws `unauthorized` without any. */
  async function shown(
    { bearer, refreshTokens, address }: LogoutInput,
    source: RequestSource,
  ): Promise<Map<string, string>> {
    const owners = new Map<string, string>()
    let cause: UnknownKeyError | null = null
    if (bearer?.sid !== undefined) owners.set(bearer.sid, bearer.sub)
    for (const token of refreshTokens) {
      const verified = await tokens.verifyRefresh(token)
      if (verified.ok) {
        owners.set(verified.claims.sid, verified.claims.sub)
        // A retired token ends its session, with the alarm, and speaks for no other.
        await inspection.endIfRetired(verified.claims, source)
      } else if (verified.reason === 'audience') {
        throw await refuseJunk('audience_mismatch', address)
      } else if (verified.reason === 'unknownKey') cause = new UnknownKeyError()
    }
    if (owners.size === 0) throw await refuseJunk('unauthorized', address, cause)
    return owners
  }

  /** A session that was ended itself, a stolen one perhaps, must not end the owner's others. */
  async function isLive(sessionId: string): Promise<boolean> {
    const family = await families.get(sessionId)
    return family !== null && family.revokedAt === null
  }

  return {
    async logout(input, source) {
      const owners = await shown(input, source)
      for (const [id, userId] of owners) {
        if (input.everywhere && (await isLive(id))) {
          await raiseSessionEpoch(users, userId)
          // This one last: while it lives, the same request again ends what was left.
          await sessions.endAll(userId, 'logout', source, { except: id })
        }
        await sessions.end({ id, userId }, 'logout', source)
      }
    },
  }
}
