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

interface Attempt<Jti extends string | null = string | null> {
  readonly claims: RefreshClaims
  readonly occasion: Occasion
  readonly nextJti: Jti
  readonly user: User | null
  readonly entry: DenylistEntry | null
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

  /** Reads all that a decision needs, and consumes nothing (T-06). */
  async function begin<Jti extends string | null>(
    token: string | null,
    occasion: Occasion,
    nextJti: Jti,
  ): Promise<Attempt<Jti>> {
    const claims = await claimsOf(token)
    const [, settings, user, entry] = await Promise.all([
      deps.limits.check('refreshFamily', claims.sid),
      deps.settings(),
      users.get(claims.sub),
      listed(claims),
    ])
    return {
      claims,
      occasion,
      nextJti,
      user,
      entry,
      graceMs: settings.refreshReuseGrace,
      absoluteTtlMs: settings.sessionAbsoluteTTL,
    }
  }

  async function listed({ sid }: RefreshClaims): Promise<DenylistEntry | null> {
    const id = sessionDenylistId(surface, sid)
    const entries = await deps.denylist.find([id])
    const now = clock.now()
    return entries.find((entry) => entry.id === id && entry.expiresAt > now) ?? null
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

  /**
   * The row, and what it says of the token. A row older than the token is read once more before
   * anybody is signed out over it: a store that lags looks like one that was rolled back.
   */
  async function readRow(
    attempt: Attempt,
    user: User | null,
  ): Promise<{ family: RefreshFamily | null; decision: RefreshDecision<EndReason> }> {
    const family = await families.get(attempt.claims.sid)
    const decision = judge(attempt, family, user)
    if (decision.outcome !== 'rolledBack') return { family, decision }
    const newest = await families.get(attempt.claims.sid)
    return { family: newest, decision: judge(attempt, newest, user) }
  }

  /** A user who may not hold a session, or a session already on the denylist: never consumes. */
  async function refuseEarly(
    attempt: Attempt,
    user: User | null,
    entry: DenylistEntry | null,
  ): Promise<User> {
    if (entry === null && user !== null && user.enabled && isHuman(user)) return user
    const { family, decision } = await readRow(attempt, user)
    if (decision.outcome === 'revoked') return refuseDecision(attempt, decision, family)
    // Also when its ending was interrupted: the alarm has not been raised yet. A session over its
    // maximum age is never called anything else (R-3A-17).
    const isMisuse = decision.outcome === 'replay' || decision.outcome === 'rolledBack'
    if (isMisuse && entry?.reason !== 'max_age') return refuseDecision(attempt, decision, family)
    // The row does not say so yet: an ending was begun and not finished. Finish it.
    if (entry !== null) return refuse(attempt, unfinished(entry))
    if (decision.outcome === 'unknown' || (user !== null && !isHuman(user))) {
      throw new AuthError('refresh_token_invalid')
    }
    return refuse(attempt, { code: 'session_revoked', end: 'admin' })
  }

  /** The one guarded write; null when its guard missed or its answer was lost. */
  async function consume(
    attempt: Attempt,
    user: User,
    next: Pick<RefreshFamily, 'generation' | 'rotatedAt' | 'rotatedTo' | 'expiresAt'>,
  ): Promise<RefreshFamily | null> {
    const now = next.rotatedAt
    const epoch = requiredEpoch(user, attempt.claims.sid)
    const cap = attempt.absoluteTtlMs
    const guard: Guard<RefreshFamily> = {
      userId: user.id,
      generation: attempt.claims.gen,
      revokedAt: null,
      expiresAt: { gt: now },
      ...(epoch === null ? {} : { sessionEpoch: epoch }),
      ...(cap === null ? {} : { loginAt: { gt: now - cap - 1 } }),
    }
    try {
      const family = await families.update(attempt.claims.sid, guard, next)
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
    { claims }: Attempt,
    user: User,
    family: Pick<RefreshFamily, 'generation' | 'expiresAt'>,
    jti: string,
  ): Promise<Pick<Refreshed, 'access' | 'refresh'>> {
    const row = { id: claims.sid, userId: user.id, ...family }
    const [access, refresh] = await Promise.all([
      tokens.access(user, claims.sid, claims),
      tokens.refresh(row, jti, claims),
    ])
    return { access, refresh }
  }

  function announce(
    { claims, occasion }: Attempt,
    type: 'refresh.rotated' | 'refresh.reissued',
    generation: number,
  ): void {
    deps.emit({
      type,
      surface,
      at: clock.now(),
      ...occasion,
      userId: claims.sub,
      sessionId: claims.sid,
      generation,
    })
  }

  return {
    rotate: (token, occasion) =>
      enforced(async () => {
        const attempt = await begin(token, occasion, tokens.nextJti())
        const user = await refuseEarly(attempt, attempt.user, attempt.entry)
        const now = clock.now()
        const next = {
          generation: attempt.claims.gen + 1,
          rotatedAt: now,
          rotatedTo: attempt.nextJti,
          expiresAt: idleDeadline(now, deps.idleMs),
        }
        // Minted first: when that fails, nothing has been consumed (T-06).
        const minted = await issue(attempt, user, next, attempt.nextJti)
        if (await consume(attempt, user, next)) {
          announce(attempt, 'refresh.rotated', next.generation)
          return { outcome: 'rotated', ...minted }
        }

        const { family, decision } = await readRow(attempt, user)
        if (decision.outcome === 'alreadyRotated') {
          announce(attempt, 'refresh.rotated', next.generation)
          return { outcome: 'rotated', ...minted }
        }
        if (family === null || decision.outcome !== 'reissue') {
          return refuseDecision(attempt, decision, family)
        }
        const again = await issue(attempt, user, family, tokens.nextJti())
        announce(attempt, 'refresh.reissued', family.generation)
        return { outcome: 'reissued', ...again }
      }),

    view: (token, occasion) =>
      enforced(async () => {
        const attempt = await begin(token, occasion, null)
        const user = await refuseEarly(attempt, attempt.user, attempt.entry)
        const { family, decision } = await readRow(attempt, user)
        const usable = decision.outcome === 'current' || decision.outcome === 'reissue'
        if (!usable || family === null) return refuseDecision(attempt, decision, family)
        const access = await tokens.access(user, attempt.claims.sid, attempt.claims)
        const cap = attempt.absoluteTtlMs
        const absoluteExpiresAt = cap === null ? null : family.loginAt + cap
        return { user, family, access, absoluteExpiresAt }
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
