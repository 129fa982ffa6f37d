import type { RefreshClaims } from '../../crypto/tokens.js'
import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { absoluteEnd, accessBounds } from './access-bounds.js'
import { chooseToken } from './choose-token.js'
import { enforced } from './enforced.js'
import type { Attempt, RefreshReading, Row } from './refresh-reading.js'
import { isStanding, type Refusal, refusalOf, refusalOfStanding } from './refresh-refusal.js'
import type { RefreshRisk } from './refresh-risk.js'
import type { SessionViews } from './session-views.js'
import type { AccessGrant, Tokens } from './tokens.js'

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

/**
 * Looks at sessions for the host's own pages and connections. It decides as `GET session` does, and
 * counts and ends nothing: null for every cookie that `GET session` refuses. It writes nothing either, except that
 * `stepUp` from the host's scorer voids the session's step-up proof. All of it throws 503
 * `session_enforcement_unavailable` when store, denylist or keys do not answer.
 */
export interface SessionLook {
  /** The session of these refresh cookies, which are all of one name. */
  find(cookies: readonly string[], source: RequestSource): Promise<FoundSession | null>
  /**
   * The same session once more, whatever cookie the browser has by now. Null as well where the signing key was replaced,
   * or the password was changed in the session and the cookie replaced since.
   */
  again(found: FoundSession, source: RequestSource): Promise<FoundSession | null>
  /** Null where the signing key was replaced meanwhile. */
  mint(found: FoundSession): Promise<AccessGrant | null>
}

type Deps = Pick<SurfaceContext, 'collections'> & {
  readonly views: SessionViews
  /** Null where the host gave no scorer of sessions. */
  readonly risk: (() => Promise<RefreshRisk>) | null
}

export function createSessionLook(
  { collections, views, risk }: Deps,
  tokens: Tokens,
  reading: RefreshReading,
): SessionLook {
  async function claimsOf(cookies: readonly string[]): Promise<RefreshClaims | null> {
    const token = cookies.length > 1 ? await chooseToken(tokens, cookies) : (cookies[0] ?? null)
    try {
      return await reading.claimsOf(token)
    } catch (error) {
      if (error instanceof AuthError && error.status === 401) return null
      throw error
    }
  }

  function attemptOf(claims: RefreshClaims, source: RequestSource): Promise<Attempt> {
    const shown = { claims, source, delivery: 'cookie', nextJti: null } as const
    return reading.read(shown, Promise.resolve(null))
  }

  /** Null, and the event where the next refresh has something to end. */
  function refuse(attempt: Attempt, { decision }: Row, refusal: Refusal | null): null {
    const isThere = decision.outcome !== 'unknown'
    if (isThere && refusal !== null && refusal.end !== null) {
      views.emitOverdue(attempt, refusal.end)
    }
    return null
  }

  /** A store that lags looks like one that was rolled back, so it is asked once more. */
  async function newestRow({ sid, gen }: RefreshClaims): Promise<RefreshFamily | null> {
    const read = () => collections.families.get(sid)
    const family = await read()
    const isOlder = family !== null && family.generation < gen
    return isOlder ? read() : family
  }

  /**
   * The password was changed in this session, and the browser has a newer cookie since: what was opened with an older
   * one may be a thief's, with a copy.
   */
  const isBarred = ({ gen }: RefreshClaims, family: RefreshFamily): boolean =>
    gen < family.generation && gen <= family.noReissueUpTo

  async function isUsual(attempt: Attempt, family: RefreshFamily): Promise<boolean> {
    return risk === null || (await risk()).isUsual(attempt, family)
  }

  function verdict(attempt: Attempt, row: Row): FoundSession | null {
    const { family, decision } = row
    if (!isStanding(attempt)) {
      const refusal = refusalOfStanding(attempt, decision)
      return refuse(attempt, row, refusal === 'ofRow' ? refusalOf(decision) : refusal)
    }
    const isUsable = decision.outcome === 'current' || decision.outcome === 'reissue'
    if (!isUsable || family === null) return refuse(attempt, row, refusalOf(decision))
    const { user, claims, accessTtlMs, absoluteTtlMs } = attempt
    const absoluteExpiresAt = absoluteEnd(attempt, family)
    return { user, family, claims, accessTtlMs, absoluteTtlMs, absoluteExpiresAt }
  }

  return {
    find: (cookies, source) =>
      enforced(async () => {
        const claims = await claimsOf(cookies)
        if (claims === null) return null
        const attempt = await attemptOf(claims, source)
        const found = verdict(attempt, await reading.readRow(attempt, attempt.user))
        if (found === null) return null
        if (!(await isUsual(attempt, found.family))) {
          views.emitOverdue(attempt, 'risk')
          return null
        }
        views.emitViewed(attempt)
        return found
      }),

    again: ({ claims: before }, source) =>
      enforced(async () => {
        if (!(await tokens.isSignerInForce(before))) return null
        const attempt = await attemptOf(before, source)
        const family = await newestRow(before)
        if (family !== null && isBarred(before, family)) return null
        // The browser refreshed meanwhile, as it should. A row older than the cookie is still one that
        // was rolled back.
        const gen = Math.max(before.gen, family?.generation ?? 0)
        const newest = { ...attempt, claims: { ...before, gen } }
        const decision = reading.judge(newest, family, attempt.user)
        const found = verdict(newest, { family, decision })
        // What was verified, and not the copy: it is asked about again.
        return found === null ? null : { ...found, claims: before }
      }),

    mint: (found) =>
      enforced(async () => {
        const { user, family, claims } = found
        const access = await tokens.access(user, claims.sid, claims, accessBounds(found, family))
        return (await tokens.isSignerInForce(claims)) ? access : null
      }),
  }
}
