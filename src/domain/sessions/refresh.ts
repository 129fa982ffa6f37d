import { ahead } from '../../concurrency/promises.js'
import type { RefreshClaims } from '../../crypto/tokens.js'
import { isSameClient } from '../../engine/login-risk-rules.js'
import { idleDeadline, rotationGuard } from '../../engine/refresh-rules.js'
import { AuthError, describeError, UnknownKeyError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { Guard } from '../../ports/store.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { absoluteEnd, accessBounds } from './access-bounds.js'
import { chooseToken } from './choose-token.js'
import { markOf } from './client-digest.js'
import { enforced } from './enforced.js'
import type { RefreshInspection, ShownToken } from './refresh-inspection.js'
import { type Attempt, presentedBy } from './refresh-reading.js'
import type { RefreshRisk } from './refresh-risk.js'
import type { SessionViews } from './session-views.js'
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
  /** The browser's own among several cookies of one name; null when that cannot be told. */
  choose(shown: readonly string[]): Promise<string | null>
  /**
   * Explicit refresh: rotates by one guarded write and starts a new idle window. A token that was
   * handed out in another way than it is shown is refused with `refresh_token_invalid`.
   */
  rotate(shown: ShownToken, source: RequestSource): Promise<Refreshed>
  /**
   * `GET session`, by the cookie: enforces the same limits, mints an access token and rotates nothing. A refusal ends the
   * session where a refresh would end it, and the host's scorer may end it or void its step-up proof.
   */
  view(token: string | null, source: RequestSource): Promise<SessionView>
}

type Deps = Pick<
  SurfaceContext,
  'collections' | 'clock' | 'idleMs' | 'recognisesDevices' | 'emit' | 'logger'
> & {
  readonly views: SessionViews
  /** Null where the host gave no scorer of sessions. */
  readonly risk: (() => Promise<RefreshRisk>) | null
}

export function createRefresh(deps: Deps, tokens: Tokens, inspection: RefreshInspection): Refresh {
  const { clock, risk } = deps
  const { families } = deps.collections

  function sentBy({ recognitionId }: ShownToken): string | null {
    return deps.recognisesDevices ? recognitionId : null
  }

  /** The one guarded write: won, missed by its guard, or lost with its answer. */
  async function consume(
    attempt: Attempt,
    user: User,
    next: Pick<RefreshFamily, 'generation' | 'rotatedAt' | 'rotatedTo' | 'rotatedBy' | 'expiresAt'>,
  ): Promise<'won' | 'missed' | 'lost'> {
    const rotation = rotationGuard(presentedBy(attempt, user), attempt, next.rotatedAt)
    const guard: Guard<RefreshFamily> = { userId: user.id, ...rotation }
    try {
      const family = await families.update(attempt.claims.sid, guard, next)
      return family === null ? 'missed' : 'won'
    } catch (error) {
      deps.logger.warn(
        'the answer to a refresh write was lost; reading the row',
        describeError(error),
      )
      return 'lost'
    }
  }

  /** Where the host has refreshes judged by their place. */
  async function requireUsual(attempt: Attempt, user: User, mark: string): Promise<void> {
    if (risk !== null) await (await risk()).requireRefresh(attempt, user, mark)
  }

  function signRefresh(
    claims: RefreshClaims,
    family: Pick<RefreshFamily, 'generation' | 'expiresAt'>,
    jti: string,
  ): Promise<RefreshGrant> {
    return tokens.refresh({ id: claims.sid, userId: claims.sub, ...family }, jti, claims)
  }

  async function issue(
    attempt: Attempt,
    user: User,
    family: Pick<RefreshFamily, 'expiresAt'>,
    signed: Promise<RefreshGrant>,
  ): Promise<Pick<Refreshed, 'access' | 'refresh'>> {
    const { claims } = attempt
    const [access, refresh] = await Promise.all([
      tokens.access(user, claims.sid, claims, accessBounds(attempt, family)),
      signed,
    ])
    await requireKey(attempt)
    return { access, refresh }
  }

  /** A stolen key may have been replaced since: what is signed with the new one must not go to its thief. */
  async function requireKey({ claims }: Pick<Attempt, 'claims'>): Promise<void> {
    if (await tokens.isSignerInForce(claims)) return
    throw new AuthError('refresh_token_invalid', { cause: new UnknownKeyError() })
  }

  function emitRotated({ claims, source }: Attempt, generation: number): void {
    deps.emit('refresh.rotated', source, { userId: claims.sub, sessionId: claims.sid, generation })
  }

  function emitReissued({ claims, source }: Attempt, family: RefreshFamily, mark: string): void {
    const { sub: userId, sid: sessionId } = claims
    const { generation, rotatedBy } = family
    const otherClient = !isSameClient(rotatedBy, mark)
    deps.emit('refresh.reissued', source, { userId, sessionId, generation, otherClient })
  }

  return {
    choose: (shown) => enforced(() => chooseToken(tokens, shown)),

    rotate: (shown, source) =>
      enforced(async () => {
        const nextJti = tokens.nextJti()
        const expiresAt = idleDeadline(clock.now(), deps.idleMs)
        // A signature takes longer than the reads: begun beside them, it is mostly there when they are.
        const attempt = await inspection.begin(shown, source, nextJti, (claims) =>
          ahead(signRefresh(claims, { generation: claims.gen + 1, expiresAt }, nextJti)),
        )
        const user = await inspection.requireStanding(attempt)
        const mark = markOf(user.id, source, sentBy(shown), risk !== null)
        await requireUsual(attempt, user, mark)
        // Minted first: when that fails, nothing has been consumed.
        const minted = await issue(attempt, user, { expiresAt }, attempt.beside)
        // Read now, and not when the signing began: a deadline may have passed since.
        const now = clock.now()
        const generation = attempt.claims.gen + 1
        const rotated = { rotatedAt: now, rotatedTo: nextJti, rotatedBy: mark }
        const next = { generation, ...rotated, expiresAt }
        const write = await consume(attempt, user, next)
        if (write === 'won') {
          emitRotated(attempt, next.generation)
          return { outcome: 'rotated', ...minted }
        }

        const row = await inspection.readRow(attempt, user)
        const { family, decision } = row
        if (decision.outcome === 'alreadyRotated') {
          emitRotated(attempt, next.generation)
          return { outcome: 'rotated', ...minted }
        }
        if (write === 'lost' && decision.outcome === 'replay') {
          // Our write may have won and been followed by others before we looked: no proof of misuse.
          throw new AuthError('session_enforcement_unavailable')
        }
        if (family === null || decision.outcome !== 'reissue') {
          return inspection.refuse(attempt, row)
        }
        const again = await issue(
          attempt,
          user,
          family,
          signRefresh(attempt.claims, family, tokens.nextJti()),
        )
        emitReissued(attempt, family, mark)
        return { outcome: 'reissued', ...again }
      }),

    view: (token, source) =>
      enforced(async () => {
        const shown = { token, delivery: 'cookie' } as const
        const attempt = await inspection.begin(shown, source, null, () => null)
        const user = await inspection.requireStanding(attempt)
        const row = await inspection.readRow(attempt, user)
        const { family, decision } = row
        const usable = decision.outcome === 'current' || decision.outcome === 'reissue'
        if (!usable || family === null) return inspection.refuse(attempt, row)
        if (risk !== null) await (await risk()).requireView(attempt, family)
        const { claims } = attempt
        const access = await tokens.access(user, claims.sid, claims, accessBounds(attempt, family))
        await requireKey(attempt)
        deps.views.emitViewed(attempt)
        return { user, family, access, absoluteExpiresAt: absoluteEnd(attempt, family) }
      }),
  }
}
