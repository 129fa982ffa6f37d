import { startEarly, unwrapSettled } from '../../concurrency/promises.js'
import { uuidv7 } from '../../crypto/secrets.js'
import type { SecondFactorMethod } from '../../engine/factors.js'
import { type Delivery, idleDeadline } from '../../engine/refresh-rules.js'
import { AuthError } from '../../errors/index.js'
import { type RefreshFamily, type Session, sessionRetentionMs } from '../../model/sessions.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { endSession, trimSessions } from './session-endings.js'
import {
  type AccessGrant,
  clientFingerprint,
  devicesIn,
  hasSameClaims,
  mintAccess,
  mintRefresh,
  newJti,
  type RefreshGrant,
  requireSigner,
} from './tokens.js'

export interface OpenedSession {
  readonly user: User
  readonly sessionId: string
  readonly access: AccessGrant
  readonly refresh: RefreshGrant
}

function newFamily(
  ctx: SurfaceContext,
  { id, jti }: { readonly id: string; readonly jti: string },
  { user, delivery, recognition }: ClearedLogin,
  source: RequestSource,
  now: number,
): RefreshFamily {
  const recognitionId = recognition?.recognitionId ?? null
  return {
    id,
    userId: user.id,
    loginAt: now,
    sessionEpoch: user.sessionEpoch,
    generation: 1,
    rotatedAt: now,
    rotatedTo: jti,
    noReissueUpTo: 0,
    shown: 0,
    // The account's own comes first; others in the same browser follow.
    device: devicesIn(user.id, recognitionId)[0] ?? null,
    byDevice: false,
    rotatedBy: clientFingerprint(user.id, source, recognitionId, ctx.sessionRiskScorer !== null),
    delivery,
    expiresAt: idleDeadline(now, ctx.idleMs),
    revokedAt: null,
    revokedReason: null,
  }
}

/**
 * Where a write fails, or its answer is lost, the login hands out no token: its row is taken back. It would be listed
 * as a session that no browser or app has, and count among those of `maxConcurrentSessions`.
 */
async function orTakenBack<T>(ctx: SurfaceContext, id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await ctx.collections.families.take(id).catch(() => {})
    throw error
  }
}

/** Beside each other: nothing goes by either before the fence. */
async function store(ctx: SurfaceContext, family: RefreshFamily, document: Session): Promise<void> {
  const [record, row] = await Promise.allSettled([
    ctx.collections.sessions.insert(document),
    ctx.collections.families.insert(family),
  ])
  if (unwrapSettled(record) && unwrapSettled(row)) return
  throw new AuthError('service_unavailable')
}

/**
 * The end of a login: all factors are accepted. Writes session and family beside each other, then
 * fences the login against a reset that ran beside it. Throws `invalid_credentials` when it lost that race.
 */
export async function openSession(
  ctx: SurfaceContext,
  how: ClearedLogin,
  source: RequestSource,
): Promise<OpenedSession> {
  const { user } = how
  // Before anything is written: a login must not be left half done for want of a
  // setting or a key.
  const { maxConcurrentSessions, accessTokenTTL } = await ctx.settings()
  const signsElsewhere = await requireSigner(ctx)
  const now = ctx.clock.now()
  const id = uuidv7(now, ctx.random)
  const jti = newJti(ctx)
  const family = newFamily(ctx, { id, jti }, how, source, now)
  const authentication = { amr: how.amr, authTime: Math.floor(now / 1000) }
  const access = (holder: User) => mintAccess(ctx, holder, id, authentication, accessTokenTTL)
  const signed = () => ({
    early: startEarly(access(user)),
    refresh: startEarly(mintRefresh(ctx, family, jti, authentication)),
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
  await orTakenBack(ctx, id, () => store(ctx, family, document))
  // Signed beside the fence, which decides whether they are handed out.
  const { early, refresh } = before ?? signed()

  // The fence, after both rows are there: a reset or a disabling that finished after the password was
  // checked has raised the epoch, and this login must not outlive it. Nor may one that showed no second
  // factor outlive the end of all trust, or the enrolment of the first factor.
  const { sessionEpoch, deviceEpoch } = user
  const factors = how.mfaMethod === null ? { deviceEpoch } : {}
  const guard = { sessionEpoch, enabled: true, ...factors }
  const fenced = await orTakenBack(ctx, id, () =>
    ctx.collections.users.update(user.id, guard, { lastLoginAt: now }),
  )
  if (fenced === null) {
    await endSession(ctx, family, 'password_change', source)
    throw new AuthError('invalid_credentials')
  }
  // A login that fails here stays among the sessions, for the next one to complete what was begun.
  if (maxConcurrentSessions > 0) {
    await trimSessions(ctx, user.id, maxConcurrentSessions, source)
  }
  const minted = await orTakenBack(ctx, id, async () => ({
    access: await (hasSameClaims(user, fenced) ? early : access(fenced)),
    refresh: await refresh,
  }))
  ctx.emit('login.succeeded', source, {
    at: now,
    userId: user.id,
    sessionId: id,
    method: how.loginMethod,
    mfaMethod: how.mfaMethod,
    amr: how.amr,
    deviceId: how.mfaMethod === null ? how.deviceId : null,
  })
  return { user: fenced, sessionId: id, ...minted }
}

const cleared = Symbol('cleared')

/** What a session is to be opened for. */
export interface LoginFacts {
  readonly user: User
  readonly loginMethod: string
  readonly mfaMethod: SecondFactorMethod | null
  readonly amr: readonly string[]
  /** The trusted device: without an `mfaMethod`, one that stood for it; else one to be trusted. */
  readonly deviceId: string | null
  /** What the browser or app is to be known by; null where recognition is off. */
  readonly recognition: { readonly recognitionId: string } | null
  /** How its refresh tokens are handed out. */
  readonly delivery: Delivery
}

/**
 * A login that passed every step. Only the login pipeline makes one and only one of these opens a
 * session, so that no way of signing in can leave out a step. An import rule keeps `clearedLogin`
 * to the pipeline.
 */
export interface ClearedLogin extends LoginFacts {
  readonly [cleared]: true
}

export function clearedLogin(facts: LoginFacts): ClearedLogin {
  return { [cleared]: true, ...facts }
}
