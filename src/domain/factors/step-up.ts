import { proofAge as ageOfProof, proofAge } from '../../engine/duration.js'
import { hasFactor, type SecondFactorMethod } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { StepUpProof } from '../../model/factors.js'
import { isHuman, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Principal, SignedIn } from '../context/actor.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import { isVoidProof, proofLifeMs } from '../context/open-collections.js'
import { sessionRefusal } from '../intents/intents.js'
import { checkPasswordOfSession } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { offeredMethods } from './code-verification.js'
import { stepUpRequired } from './factor-changes.js'

// Recent proofs of a second factor, each bound to the session that showed it.

/** Another proof of the session, or the sweep, may come between reading and writing. */
const tries = 16

/** Epoch milliseconds of the session's newest proof that still counts; null without one. */
export async function stepUpProvedAt(
  ctx: SurfaceContext,
  { id, deviceEpoch }: User,
  sessionId: string,
): Promise<number | null> {
  const proof = await ctx.collections.stepUpProofs.get(sessionId)
  const counts = proof?.userId === id && proof.deviceEpoch === deviceEpoch
  return counts ? proof.provedAt : null
}

/** Milliseconds since that proof, see `engine/proof-age`; null without one, and for one far in the future. */
export async function stepUpProofAge(
  ctx: SurfaceContext,
  user: User,
  sessionId: string,
): Promise<number | null> {
  const proved = await stepUpProvedAt(ctx, user, sessionId)
  return proved === null ? null : ageOfProof(proved, ctx.clock.now())
}

/** The newer of two proofs of a session stays; one from before a change of factors is never newer. */
function isNewer(ctx: SurfaceContext, one: StepUpProof, other: StepUpProof): boolean {
  if (one.deviceEpoch !== other.deviceEpoch) return one.deviceEpoch > other.deviceEpoch
  // One of a clock that was wrong would keep the session from proving anything until that time comes.
  return one.provedAt > other.provedAt && ageOfProof(one.provedAt, ctx.clock.now()) !== null
}

/** When the proof that stays was shown. */
function store(ctx: SurfaceContext, proof: StepUpProof): Promise<number> {
  const { id, ...fields } = proof
  return retryOnConflict(tries, async () => {
    const older = await ctx.collections.stepUpProofs.get(id)
    if (older === null)
      return (await ctx.collections.stepUpProofs.insert(proof)) ? proof.provedAt : conflict
    if (isNewer(ctx, older, proof)) return older.provedAt
    const guard = { provedAt: older.provedAt, deviceEpoch: older.deviceEpoch }
    const moved = await ctx.collections.stepUpProofs.update(id, guard, fields)
    return moved === null ? conflict : proof.provedAt
  })
}

/** Notes a proof of now. It replaces an older one of the session, and one that lies too far in the future to count. */
export async function recordStepUp(
  ctx: SurfaceContext,
  user: User,
  sessionId: string,
  method: SecondFactorMethod,
): Promise<number> {
  const now = ctx.clock.now()
  const { id: userId, deviceEpoch } = user
  const expiresAt = now + proofLifeMs
  return store(ctx, { id: sessionId, userId, method, deviceEpoch, provedAt: now, expiresAt })
}

/**
 * To be called before a factor is shown in a session, and with the user that the proof is then recorded with. Throws
 * `session_revoked` and `session_max_age_reached` where the session is over: an ending of all sessions reaches one after
 * the other, and a proof would count in those it has yet to reach. One that begins afterwards voids the proof.
 */
export async function requireOpenSession(
  ctx: SurfaceContext,
  { user, sessionId }: Pick<SignedIn, 'user' | 'sessionId'>,
): Promise<void> {
  const refusal = await sessionRefusal(ctx, user, sessionId)
  if (refusal !== null) throw refusal
}

/**
 * Resolves only when the session showed a second factor less than `maxAgeMs` ago. Throws
 * `mfa_enrollment_required` for a person without a factor, and `step_up_required` for any other caller:
 * a service account, and a person who only signed in, refreshed, typed a password or came from a
 * trusted device.
 */
export async function requireStepUp(
  ctx: SurfaceContext,
  { kind, userId, sessionId }: Principal,
  maxAgeMs: number,
): Promise<void> {
  if (kind !== '' || sessionId === null) throw stepUpRequired(maxAgeMs)
  const user = await ctx.collections.users.get(userId)
  if (user === null || !user.enabled || !isHuman(user)) throw stepUpRequired(maxAgeMs)
  const age = await stepUpProofAge(ctx, user, sessionId)
  if (age !== null && age < maxAgeMs) return
  if (hasFactor(await enrolledFactors(ctx.collections, userId))) throw stepUpRequired(maxAgeMs)
  const maxAgeSeconds = Math.floor(maxAgeMs / 1000)
  throw new AuthError('mfa_enrollment_required', { maxAgeSeconds })
}

// Re-authenticates a signed-in user before a change of how to sign in (ASVS 7.5.1).

/**
 * Takes the account as it is now, and gives what to throw where the session was ended, or the account's password or
 * factors were changed, since the user was re-authenticated; null where none of this happened.
 */
export type RefusalSince = (now: User | null) => Promise<AuthError | null>

/** `refusal` is for an account whose credentials changed: what was asked for has to be shown again. */
function since(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  refusal: AuthError,
): RefusalSince {
  return async (now) => {
    if (now === null) return new AuthError('session_revoked')
    const ended = await sessionRefusal(ctx, now, sessionId)
    if (ended !== null) return ended
    const { credentialEpoch, deviceEpoch } = now
    const isSame = credentialEpoch === user.credentialEpoch && deviceEpoch === user.deviceEpoch
    return isSame ? null : refusal
  }
}

async function requirePassword(
  ctx: SurfaceContext,
  who: SignedIn,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<RefusalSince> {
  const { user, sessionId } = who
  if (currentPassword === undefined) throw new AuthError('invalid_credentials')
  if (!(await checkPasswordOfSession(ctx, who, currentPassword, source))) {
    ctx.emit('password.changeFailed', source, { userId: user.id, sessionId })
    throw new AuthError('invalid_credentials')
  }
  // A hash waits for its turn, and meanwhile the owner may have taken the account back from a thief.
  const refusalSince = since(ctx, who, new AuthError('invalid_credentials'))
  const refusal = await refusalSince(await ctx.collections.users.get(user.id))
  if (refusal !== null) throw refusal
  return refusalSince
}

async function requireRecent(
  ctx: SurfaceContext,
  { principal, sessionId }: SignedIn,
  hasFactor: boolean,
  maxAgeMs: number,
) {
  if (hasFactor) return requireStepUp(ctx, principal, maxAgeMs)
  const age = proofAge(principal.claims.authTime * 1000, ctx.clock.now())
  const isRecent = age !== null && age < maxAgeMs
  const isUnusual = isVoidProof(await ctx.collections.stepUpProofs.get(sessionId))
  if (!isRecent || isUnusual) throw stepUpRequired(maxAgeMs)
}

/**
 * Asks for one of three. A user with a factor, even of a kind that is switched off, needs a second-factor proof younger
 * than `stepUpMaxAge`. A user without one needs the current password. A user with neither, or while passwords are off,
 * needs a login younger than `stepUpMaxAge`. Throws `step_up_required`, `invalid_credentials` and `rate_limited`, and
 * `session_revoked` or `session_max_age_reached` where the session ended while the password was checked. Resolves with a
 * function that asks again; call it just before the change is written.
 */
export async function requireReAuthentication(
  ctx: SurfaceContext,
  who: SignedIn,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<RefusalSince> {
  const settings = await ctx.settings()
  const { stepUpMaxAge } = settings
  const { passwordLoginEnabled } = settingsFor(ctx.surface, settings)
  const hasFactor = (await offeredMethods(ctx, who.user.id)).length > 0
  // While passwords are off, one that is left proves nothing, and its owner cannot reset it.
  const isByPassword = !hasFactor && passwordLoginEnabled && who.user.passwordHash !== null
  if (isByPassword) return requirePassword(ctx, who, currentPassword, source)
  await requireRecent(ctx, who, hasFactor, stepUpMaxAge)
  return since(ctx, who, stepUpRequired(stepUpMaxAge))
}
