import { settledValue } from '../../concurrency/promises.js'
import type { RefreshClaims } from '../../crypto/tokens.js'
import { oncePerWindow } from '../../engine/limits.js'
import {
  type Delivery,
  judgeRefresh,
  type Presented,
  type RefreshDecision,
} from '../../engine/refresh-rules.js'
import { AuthError, EarlyTokenError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { DenylistEntry } from '../../ports/backend.js'
import type { EndReason } from '../../ports/events.js'
import type { RequestSource } from '../../ports/surface.js'
import { entryInForce, sessionDenylistId } from '../context/denylist-entries.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Tokens } from './tokens.js'

/** A presented refresh token, as it was shown. */
interface Shown {
  readonly claims: RefreshClaims
  /** How the token was shown; null where that makes no difference. */
  readonly delivery: Delivery | null
  readonly source: RequestSource
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

/** Reads what a refresh token is judged by. It writes, counts and ends nothing. */
export interface RefreshReading {
  /**
   * Throws `unauthorized`, `audience_mismatch`, `refresh_token_invalid` or `refresh_token_expired`, and
   * `service_unavailable` for a token that will count in a few minutes, because a clock of ours is wrong.
   */
  claimsOf(token: string | null): Promise<RefreshClaims>
  /** Reads all that a decision needs. `beside` is waited for with it, and its failure counts first. */
  read<T>(shown: Shown, beside: Promise<T>): Promise<Begun<T>>
  /** The row, and what it says of the token. */
  readRow(attempt: Attempt, user: User | null): Promise<Row>
  /** The same of a row that was read. */
  judge(attempt: Attempt, family: RefreshFamily | null, user: User | null): Row['decision']
}

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'denylist' | 'clock' | 'settings' | 'logger'
>

const saidEveryMs = 60_000
/** How far ahead a token may be for its owner to be asked to wait: as far as the clocks of replicas may reasonably differ. */
const mostWaitMs = 5 * 60_000

export function createRefreshReading(deps: Deps, tokens: Tokens): RefreshReading {
  const { surface, collections, clock } = deps
  const { users, families } = collections
  const isFirst = oncePerWindow()

  function refuseEarly({ iat }: RefreshClaims): never {
    const cause = new EarlyTokenError()
    const now = clock.now()
    if (isFirst('', saidEveryMs, now)) deps.logger.error(cause.message, { surface })
    const isSoon = iat * 1000 - now <= mostWaitMs
    throw new AuthError(isSoon ? 'service_unavailable' : 'refresh_token_invalid', { cause })
  }

  async function listed({ sid }: RefreshClaims): Promise<DenylistEntry | null> {
    const id = sessionDenylistId(surface, sid)
    return entryInForce(await deps.denylist.find([id]), [id], clock.now())
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

  return {
    judge,

    async claimsOf(token) {
      if (token === null) throw new AuthError('unauthorized')
      const verified = await tokens.verifyRefresh(token)
      if (verified.ok) return verified.claims
      if (verified.reason === 'audience') throw new AuthError('audience_mismatch')
      if (verified.reason === 'unknownKey') {
        throw new AuthError('refresh_token_invalid', { cause: new UnknownKeyError() })
      }
      if (verified.reason === 'early') return refuseEarly(verified.claims)
      throw new AuthError(
        verified.reason === 'expired' ? 'refresh_token_expired' : 'refresh_token_invalid',
      )
    },

    /**
     * All of the reads are waited for, and then judged in one order: for a session on the denylist nothing
     * else needs to be known, so that another read's failure cannot stand in for its refusal.
     */
    async read(shown, beside) {
      const [begun, policy, owner, listing] = await Promise.allSettled([
        beside,
        deps.settings(),
        users.get(shown.claims.sub),
        listed(shown.claims),
      ])
      const work = settledValue(begun)
      const settings = settledValue(policy)
      const entry = settledValue(listing)
      return {
        ...shown,
        user: entry !== null && owner.status === 'rejected' ? null : settledValue(owner),
        entry,
        graceMs: settings.refreshReuseGrace,
        absoluteTtlMs: settings.sessionAbsoluteTTL,
        accessTtlMs: settings.accessTokenTTL,
        beside: work,
      }
    },

    /**
     * A row older than the token is read once more before the user is signed out over it: a store that
     * lags looks like one that was rolled back.
     */
    async readRow(attempt, user) {
      const family = await families.get(attempt.claims.sid)
      const decision = judge(attempt, family, user)
      if (decision.outcome !== 'rolledBack') return { family, decision }
      const newest = await families.get(attempt.claims.sid)
      return { family: newest, decision: judge(attempt, newest, user) }
    },
  }
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
