import { uuidv7 } from '../crypto/uuid.js'
import { idleDeadline } from '../engine/refresh.js'
import { AuthError } from '../errors.js'
import type { RefreshFamily } from '../model/refresh-family.js'
import { sessionRetentionMs } from '../model/session.js'
import type { User } from '../model/user.js'
import type { EndReason } from '../ports/telemetry.js'
import type { Occasion } from './occasion.js'
import type { SurfaceDeps } from './surface-deps.js'
import type { AccessGrant, RefreshGrant, Tokens } from './tokens.js'

/** 24 h covers the longest access token, one minute the largest clock leeway (seed 8). */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export interface OpenedSession {
  readonly user: User
  readonly sessionId: string
  readonly access: AccessGrant
  readonly refresh: RefreshGrant
}

export interface Sessions {
  /**
   * The end of a login: all factors are accepted. Writes session and family, then fences the login
   * against a reset that ran beside it. Throws `invalid_credentials` when it lost that race.
   */
  open(user: User, how: LoginFacts, occasion: Occasion): Promise<OpenedSession>
  /**
   * Ends one session in three repeatable steps, denylist first, so that a crash at any point
   * leaves it refused and the next attempt completes. True for the caller that ended it.
   * `actorId` is who ended somebody else's.
   */
  end(
    family: Pick<RefreshFamily, 'id' | 'userId'>,
    reason: EndReason,
    occasion: Occasion,
    actorId?: string | null,
  ): Promise<boolean>
  /** The last of the three steps alone, for a session whose first two are known to be done. */
  closeDocument(sessionId: string, reason: EndReason): Promise<void>
  /**
   * Ends every live session of a user whose `sessionEpoch` was just raised, except `keep`.
   * Call only after the user was written: from then on no older family can be refreshed.
   */
  endAll(
    userId: string,
    reason: EndReason,
    keep: string | null,
    occasion: Occasion,
    actorId?: string | null,
  ): Promise<void>
}

export interface LoginFacts {
  readonly loginMethod: string
  readonly amr: readonly string[]
}

type Deps = Pick<
  SurfaceDeps,
  'surface' | 'collections' | 'denylist' | 'clock' | 'random' | 'settings' | 'idleMs' | 'emit'
>

const pageSize = 200

export function createSessions(deps: Deps, tokens: Tokens): Sessions {
  const { surface, collections, denylist, clock, random } = deps
  const { users, sessions, families } = collections

  async function end(
    family: Pick<RefreshFamily, 'id' | 'userId'>,
    reason: EndReason,
    occasion: Occasion,
    actorId = isOwnAct(reason) ? family.userId : null,
  ): Promise<boolean> {
    const now = clock.now()
    await denylist.put([
      {
        id: sessionDenylistId(surface, family.id),
        reason: reason === 'max_age' ? 'max_age' : 'revoked',
        expiresAt: now + denylistLifeMs,
      },
    ])
    const ended = await families.update(
      family.id,
      { revokedAt: null },
      { revokedAt: now, revokedReason: reason },
    )
    await closeDocument(family.id, reason)
    if (ended === null || ended === 'taken') return false
    deps.emit({
      type: 'session.terminated',
      surface,
      at: now,
      ...occasion,
      userId: family.userId,
      sessionId: family.id,
      reason,
      actorId,
    })
    return true
  }

  async function closeDocument(sessionId: string, reason: EndReason): Promise<void> {
    await sessions.update(
      sessionId,
      { active: true },
      { active: false, endedAt: clock.now(), endReason: reason },
    )
  }

  /** Live families of a user, newest login first. */
  async function* liveFamilies(userId: string): AsyncGenerator<RefreshFamily> {
    let page: readonly RefreshFamily[]
    let next: { readonly after?: string } = {}
    do {
      page = await families.find({ userId }, { limit: pageSize, newestFirst: true, ...next })
      yield* page.filter((family) => isLive(family, clock.now()))
      next = { after: page.at(-1)?.id ?? '' }
    } while (page.length === pageSize)
  }

  /** Insert, then trim: of any number of parallel logins the newest n survive (S-61). */
  async function trim(user: User, occasion: Occasion): Promise<void> {
    const { maxConcurrentSessions } = await deps.settings()
    if (maxConcurrentSessions === 0) return
    let seen = 0
    for await (const family of liveFamilies(user.id)) {
      seen += 1
      if (seen > maxConcurrentSessions) await end(family, 'limit', occasion)
    }
  }

  return {
    end,
    closeDocument,

    async endAll(userId, reason, keep, occasion, actorId) {
      for await (const family of liveFamilies(userId)) {
        if (family.id !== keep) await end(family, reason, occasion, actorId)
      }
    },

    async open(user, how, occasion) {
      const now = clock.now()
      const id = uuidv7(now, random)
      const jti = tokens.nextJti()
      const family: RefreshFamily = {
        id,
        userId: user.id,
        loginAt: now,
        sessionEpoch: user.sessionEpoch,
        generation: 1,
        rotatedAt: now,
        rotatedTo: jti,
        expiresAt: idleDeadline(now, deps.idleMs),
        revokedAt: null,
        revokedReason: null,
      }
      const stored = await sessions.insert({
        id,
        userId: user.id,
        loginAt: now,
        expiresAt: now + sessionRetentionMs,
        active: true,
        endedAt: null,
        endReason: null,
        loginMethod: how.loginMethod,
        mfaMethod: null,
        ...occasion,
        deviceId: null,
      })
      if (!stored || !(await families.insert(family))) throw new AuthError('service_unavailable')

      // The fence: a reset or a disabling that finished after the password was checked has raised
      // the epoch, and this login must not outlive it.
      const fenced = await users.update(
        user.id,
        { sessionEpoch: user.sessionEpoch, enabled: true },
        { lastLoginAt: now },
      )
      if (fenced === null || fenced === 'taken') {
        await end(family, 'password_change', occasion)
        throw new AuthError('invalid_credentials')
      }
      await trim(fenced, occasion)
      const authentication = { amr: how.amr, authTime: Math.floor(now / 1000) }
      const [access, refresh] = await Promise.all([
        tokens.access(fenced, id, authentication),
        tokens.refresh(family, jti, authentication),
      ])
      deps.emit({
        type: 'login.succeeded',
        surface,
        at: now,
        ...occasion,
        userId: user.id,
        sessionId: id,
        method: how.loginMethod,
      })
      return { user: fenced, sessionId: id, access, refresh }
    },
  }
}

/** Endings that follow from what the owner did: showed a credential, or set a password. */
function isOwnAct(reason: EndReason): boolean {
  return reason === 'logout' || reason === 'password_change'
}

function isLive(family: RefreshFamily, now: number): boolean {
  return family.revokedAt === null && family.expiresAt > now
}

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}
