import { ahead, settledValue } from '../../concurrency/promises.js'
import { uuidv7 } from '../../crypto/secrets.js'
import { idleDeadline } from '../../engine/refresh-rules.js'
import { AuthError } from '../../errors/index.js'
import { type RefreshFamily, type Session, sessionRetentionMs } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ClearedLogin } from './cleared-login.js'
import { markOf } from './client-digest.js'
import { createSessionTermination, type SessionTermination } from './session-termination.js'
import { type AccessGrant, hasSameClaims, type RefreshGrant, type Tokens } from './tokens.js'

export interface OpenedSession {
  readonly user: User
  readonly sessionId: string
  readonly access: AccessGrant
  readonly refresh: RefreshGrant
}

export interface Sessions extends SessionTermination {
  /**
   * The end of a login: all factors are accepted. Writes session and family beside each other, then
   * fences the login against a reset that ran beside it. Throws `invalid_credentials` when it lost that race.
   */
  open(login: ClearedLogin, source: RequestSource): Promise<OpenedSession>
}

interface Deps
  extends Pick<
    SurfaceContext,
    | 'surface'
    | 'collections'
    | 'denylist'
    | 'clock'
    | 'random'
    | 'settings'
    | 'idleMs'
    | 'emit'
    | 'logger'
  > {
  /** Whether a session notes the network and user agent that refresh it. */
  readonly marksPlaces: boolean
}

export function createSessions(deps: Deps, tokens: Tokens): Sessions {
  const { clock, random } = deps
  const { users, sessions, families } = deps.collections
  const ending = createSessionTermination(deps)

  const newFamily = (
    { id, jti }: { readonly id: string; readonly jti: string },
    { user, delivery, recognition }: ClearedLogin,
    source: RequestSource,
    now: number,
  ): RefreshFamily => ({
    id,
    userId: user.id,
    loginAt: now,
    sessionEpoch: user.sessionEpoch,
    generation: 1,
    rotatedAt: now,
    rotatedTo: jti,
    noReissueUpTo: 0,
    rotatedBy: markOf(user.id, source, recognition?.recognitionId ?? null, deps.marksPlaces),
    delivery,
    expiresAt: idleDeadline(now, deps.idleMs),
    revokedAt: null,
    revokedReason: null,
  })

  /**
   * Where a write fails, or its answer is lost, the login hands out no token: its row is taken back. It would be listed
   * as a session that no browser or app has, and count among those of `maxConcurrentSessions`.
   */
  async function orTakenBack<T>(id: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      await families.take(id).catch(() => {})
      throw error
    }
  }

  /** Beside each other: nothing goes by either before the fence. */
  async function store(family: RefreshFamily, document: Session): Promise<void> {
    const [record, row] = await Promise.allSettled([
      sessions.insert(document),
      families.insert(family),
    ])
    if (settledValue(record) && settledValue(row)) return
    throw new AuthError('service_unavailable')
  }

  return {
    ...ending,

    async open(how, source) {
      const { user } = how
      // Before anything is written: a login must not be left half done for want of a
      // setting or a key.
      const { maxConcurrentSessions, accessTokenTTL, sessionAbsoluteTTL } = await deps.settings()
      const signsElsewhere = await tokens.requireKey()
      const now = clock.now()
      const id = uuidv7(now, random)
      const jti = tokens.nextJti()
      const family = newFamily({ id, jti }, how, source, now)
      const authentication = { amr: how.amr, authTime: Math.floor(now / 1000) }
      const access = (holder: User) =>
        tokens.access(holder, id, authentication, {
          ttlMs: accessTokenTTL,
          idleEndsAt: family.expiresAt,
          absoluteTtlMs: sessionAbsoluteTTL,
        })
      const signed = () => ({
        early: ahead(access(user)),
        refresh: ahead(tokens.refresh(family, jti, authentication)),
      })
      // A signer elsewhere may fail, and then nothing is left of the login.
      const before = signsElsewhere ? signed() : null
      if (before !== null) await Promise.all([before.early, before.refresh])
      const document = {
        id,
        userId: user.id,
        loginAt: now,
        expiresAt: now + sessionRetentionMs,
        active: true,
        endedAt: null,
        endReason: null,
        loginMethod: how.loginMethod,
        mfaMethod: how.mfaMethod,
        ...source,
        deviceId: how.deviceId,
      }
      await orTakenBack(id, () => store(family, document))
      // Signed beside the fence, which decides whether they are handed out.
      const { early, refresh } = before ?? signed()

      // The fence, after both rows are there: a reset or a disabling that finished after the password was
      // checked has raised the epoch, and this login must not outlive it. Nor may one that showed no second
      // factor outlive the end of all trust, or the enrolment of the first factor.
      const { sessionEpoch, deviceEpoch } = user
      const factors = how.mfaMethod === null ? { deviceEpoch } : {}
      const guard = { sessionEpoch, enabled: true, ...factors }
      const fenced = await orTakenBack(id, () => users.update(user.id, guard, { lastLoginAt: now }))
      if (fenced === null) {
        await ending.end(family, 'password_change', source)
        throw new AuthError('invalid_credentials')
      }
      // A login that fails here stays among the sessions, for the next one to complete what was begun.
      if (maxConcurrentSessions > 0) {
        await ending.trim(user.id, maxConcurrentSessions, source)
      }
      const minted = await orTakenBack(id, async () => ({
        access: await (hasSameClaims(user, fenced) ? early : access(fenced)),
        refresh: await refresh,
      }))
      deps.emit('login.succeeded', source, {
        at: now,
        userId: user.id,
        sessionId: id,
        method: how.loginMethod,
        mfaMethod: how.mfaMethod,
        amr: how.amr,
        deviceId: how.mfaMethod === null ? how.deviceId : null,
      })
      return { user: fenced, sessionId: id, ...minted }
    },
  }
}
