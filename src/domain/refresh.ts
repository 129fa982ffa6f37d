import type { RefreshClaims } from '../crypto/verify-token.js'
import { idleDeadline, judgeRefresh, type RefreshDecision } from '../engine/refresh.js'
import { AuthError, describeError } from '../errors.js'
import type { RefreshFamily } from '../model/refresh-family.js'
import { isHuman, type User } from '../model/user.js'
import type { DenylistEntry } from '../ports/denylist.js'
import type { Guard } from '../ports/store.js'
import type { EndReason } from '../ports/telemetry.js'
import type { Occasion } from './occasion.js'
import { type Refusal, refusalOf, unfinished } from './refresh-refusal.js'
import { type Sessions, sessionDenylistId } from './sessions.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { AccessGrant, RefreshGrant, Tokens } from './tokens.js'

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

export interface Refresh {
  /**
   * Explicit refresh: rotates by one guarded write and starts a new idle window. Null for a request
   * without a token, which is the plain `unauthorized`.
   */
  rotate(token: string | null, occasion: Occasion): Promise<Refreshed>
  /** `GET session`: enforces the same limits, mints an access token and writes nothing. */
  view(token: string | null, occasion: Occasion): Promise<SessionView>
}

type Deps = Pick<
  SurfaceDeps,
  | 'surface'
  | 'collections'
  | 'denylist'
  | 'limits'
  | 'clock'
  | 'settings'
  | 'idleMs'
  | 'emit'
  | 'logger'
>

interface Attempt {
  readonly claims: RefreshClaims
  readonly occasion: Occasion
  readonly nextJti: string | null
  readonly graceMs: number
  readonly absoluteTtlMs: number | null
}

export function createRefresh(deps: Deps, tokens: Tokens, sessions: Sessions): Refresh {
  const { surface, collections, clock } = deps
  const { users, families } = collections

  async function claimsOf(token: string | null): Promise<RefreshClaims> {
    if (token === null) throw new AuthError('unauthorized')
    const verified = await tokens.verifyRefresh(token)
    if (verified.ok) return verified.claims
    if (verified.reason === 'audience') throw new AuthError('audience_mismatch')
    throw new AuthError(
      verified.reason === 'expired' ? 'refresh_token_expired' : 'refresh_token_invalid',
    )
  }

  async function begin(
    token: string | null,
    occasion: Occasion,
    nextJti: string | null,
  ): Promise<Attempt> {
    const claims = await claimsOf(token)
    await deps.limits.check('refreshFamily', claims.sid)
    const settings = await deps.settings()
    return {
      claims,
      occasion,
      nextJti,
      graceMs: settings.refreshReuseGrace,
      absoluteTtlMs: settings.sessionAbsoluteTTL,
    }
  }

  /** User and denylist, before anything is consumed (T-06). */
  async function standing(claims: RefreshClaims): Promise<[User | null, DenylistEntry | null]> {
    const id = sessionDenylistId(surface, claims.sid)
    const [user, entries] = await Promise.all([users.get(claims.sub), deps.denylist.find([id])])
    const now = clock.now()
    return [user, entries.find((entry) => entry.id === id && entry.expiresAt > now) ?? null]
  }

  function judge(
    attempt: Attempt,
    family: RefreshFamily | null,
    user: User | null,
  ): RefreshDecision<EndReason> {
    // A row whose user is not the token's was never minted together with it.
    const own = family !== null && family.userId === attempt.claims.sub ? family : null
    return judgeRefresh(
      own,
      {
        generation: attempt.claims.gen,
        nextJti: attempt.nextJti,
        requiredEpoch: user === null ? null : requiredEpoch(user, attempt.claims.sid),
      },
      attempt,
      clock.now(),
    )
  }

  /** Carries out the ending a refusal calls for and throws its code. */
  async function refuse(
    attempt: Attempt,
    refusal: Refusal,
    announce: () => void = () => {},
  ): Promise<never> {
    const { claims, occasion } = attempt
    if (refusal.end === null) throw new AuthError(refusal.code)
    const first = await sessions.end({ id: claims.sid, userId: claims.sub }, refusal.end, occasion)
    if (first) announce()
    // A replay alarms once; whoever comes later learns that the session was ended.
    const late = !first && refusal.code === 'refresh_token_reused'
    throw new AuthError(late ? 'session_revoked' : refusal.code)
  }

  async function refuseDecision(
    attempt: Attempt,
    decision: RefreshDecision<EndReason>,
    family: RefreshFamily | null,
  ): Promise<never> {
    if (decision.outcome === 'revoked') {
      // Denylist and row are in place, in this order; the document may not be yet.
      await sessions.closeDocument(attempt.claims.sid, decision.reason ?? 'admin')
    }
    const refusal = refusalOf(decision)
    if (refusal === null) {
      deps.logger.error('a refresh was refused by the store for no reason the row explains')
      throw new AuthError('session_enforcement_unavailable')
    }
    return refuse(attempt, refusal, () => announceMisuse(attempt, decision, family))
  }

  function announceMisuse(
    { claims, occasion }: Attempt,
    { outcome }: RefreshDecision<EndReason>,
    family: RefreshFamily | null,
  ): void {
    if (outcome !== 'replay' && outcome !== 'rolledBack') return
    deps.emit({
      type: outcome === 'replay' ? 'refresh.replayDetected' : 'refresh.storeRolledBack',
      surface,
      at: clock.now(),
      ...occasion,
      userId: claims.sub,
      sessionId: claims.sid,
      presentedGeneration: claims.gen,
      currentGeneration: family?.generation ?? 0,
    })
  }

  /** A user who may not hold a session, or a session already on the denylist: never consumes. */
  async function refuseEarly(
    attempt: Attempt,
    user: User | null,
    entry: DenylistEntry | null,
  ): Promise<User> {
    if (entry === null && user !== null && user.enabled && isHuman(user)) return user
    const family = await families.get(attempt.claims.sid)
    const decision = judge(attempt, family, user)
    if (decision.outcome === 'revoked') return refuseDecision(attempt, decision, family)
    // The row does not say so yet: an ending was begun and not finished. Finish it.
    if (entry !== null) return refuse(attempt, unfinished(entry))
    if (decision.outcome === 'replay') return refuseDecision(attempt, decision, family)
    if (decision.outcome === 'unknown' || (user !== null && !isHuman(user))) {
      throw new AuthError('refresh_token_invalid')
    }
    return refuse(attempt, { code: 'session_revoked', end: 'admin' })
  }

  /** The one guarded write; null when its guard missed or its answer was lost. */
  async function consume(attempt: Attempt, user: User, jti: string): Promise<RefreshFamily | null> {
    const now = clock.now()
    const epoch = requiredEpoch(user, attempt.claims.sid)
    const guard: Guard<RefreshFamily> = {
      userId: user.id,
      generation: attempt.claims.gen,
      revokedAt: null,
      expiresAt: { gt: now },
      ...(epoch === null ? {} : { sessionEpoch: epoch }),
      ...(attempt.absoluteTtlMs === null
        ? {}
        : { loginAt: { gt: now - attempt.absoluteTtlMs - 1 } }),
    }
    try {
      const family = await families.update(attempt.claims.sid, guard, {
        generation: attempt.claims.gen + 1,
        rotatedAt: now,
        rotatedTo: jti,
        expiresAt: idleDeadline(now, deps.idleMs),
      })
      return family === 'taken' ? null : family
    } catch (error) {
      deps.logger.warn(
        'the answer to a refresh write was lost; reading the row',
        describeError(error),
      )
      return null
    }
  }

  async function issue(
    attempt: Attempt,
    user: User,
    family: RefreshFamily,
    outcome: 'rotated' | 'reissued',
    jti: string,
  ): Promise<Refreshed> {
    const { amr, sid } = attempt.claims
    const [access, refresh] = await Promise.all([
      tokens.access(user, { id: sid, amr, loginAt: family.loginAt }),
      tokens.refresh(family, jti, amr),
    ])
    if (outcome === 'reissued') announceReissue(attempt, family)
    return { outcome, access, refresh }
  }

  function announceReissue(attempt: Attempt, family: RefreshFamily): void {
    deps.emit({
      type: 'refresh.reissued',
      surface,
      at: clock.now(),
      ...attempt.occasion,
      userId: family.userId,
      sessionId: family.id,
      generation: family.generation,
    })
  }

  return {
    rotate: (token, occasion) =>
      enforced(async () => {
        const jti = tokens.nextJti()
        const attempt = await begin(token, occasion, jti)
        const user = await refuseEarly(attempt, ...(await standing(attempt.claims)))

        const rotated = await consume(attempt, user, jti)
        if (rotated !== null) return issue(attempt, user, rotated, 'rotated', jti)

        const family = await families.get(attempt.claims.sid)
        const decision = judge(attempt, family, user)
        if (family !== null && decision.outcome === 'alreadyRotated') {
          return issue(attempt, user, family, 'rotated', jti)
        }
        if (family !== null && decision.outcome === 'reissue') {
          return issue(attempt, user, family, 'reissued', tokens.nextJti())
        }
        return refuseDecision(attempt, decision, family)
      }),

    view: (token, occasion) =>
      enforced(async () => {
        const attempt = await begin(token, occasion, null)
        const [[found, entry], family] = await Promise.all([
          standing(attempt.claims),
          families.get(attempt.claims.sid),
        ])
        const user = await refuseEarly(attempt, found, entry)
        const decision = judge(attempt, family, user)
        const usable = decision.outcome === 'current' || decision.outcome === 'reissue'
        if (!usable || family === null) {
          return refuseDecision(attempt, decision, family)
        }
        const { amr, sid } = attempt.claims
        const access = await tokens.access(user, { id: sid, amr, loginAt: family.loginAt })
        const cap = attempt.absoluteTtlMs
        return {
          user,
          family,
          access,
          absoluteExpiresAt: cap === null ? null : family.loginAt + cap,
        }
      }),
  }
}

/** Null for the one session the user's last "end all others" spared. */
function requiredEpoch(user: User, sessionId: string): number | null {
  return user.keptSessionId === sessionId ? null : user.sessionEpoch
}

/** Clients keep their tokens on this code and try again; any other 503 would say less. */
async function enforced<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof AuthError && error.code === 'service_unavailable') {
      throw new AuthError('session_enforcement_unavailable', { cause: error })
    }
    throw error
  }
}
