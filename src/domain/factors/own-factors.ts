import { randomToken } from '../../crypto/secrets.js'
import { allowedFactors, hasFactor } from '../../engine/factors.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SignedIn } from '../context/actor.js'
import { enrolledFactors, passkeysOfUser } from '../context/enrolled-factors.js'
import { sessionLine } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { hasWayIn } from '../surface/ways-in.js'
import {
  generateBackupCodes,
  replaceBackupCodes,
  type ShownCode,
  spendCode,
} from './code-verification.js'
import {
  endsAllBut,
  type FactorChange,
  factorChanged,
  requireProvedMailbox,
  retireProofs,
  sparing,
} from './factor-changes.js'
import { recordStepUp, requireOpenSession, stepUpProvedAt } from './step-up.js'

// What a person signed in does with their authenticator app and backup codes.

export interface MfaStatus {
  readonly policy: 'off' | 'optional' | 'required'
  readonly totp: { readonly enrolled: boolean }
  readonly backupCodes: { readonly remaining: number }
  /** How many there are. */
  readonly passkeys: number
  /** Epoch milliseconds of this session's last proof; null without one that counts. */
  readonly provedAt: number | null
}

export async function mfaStatus(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
): Promise<MfaStatus> {
  const [settings, enrolled, provedAt] = await Promise.all([
    ctx.settings(),
    enrolledFactors(ctx.collections, user.id),
    stepUpProvedAt(ctx, user, sessionId),
  ])
  return {
    policy: settingsFor(ctx.surface, settings).mfaPolicy,
    totp: { enrolled: enrolled.totp },
    backupCodes: { remaining: enrolled.backupCodes },
    passkeys: enrolled.passkeys,
    provedAt,
  }
}

/**
 * Ends the other sessions unless `endOtherSessions` is false. Throws `factor_not_found` and
 * `last_factor_required`. The caller has shown a second factor.
 */
export async function removeOwnTotp(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  source: RequestSource,
  endOtherSessions?: boolean,
): Promise<void> {
  const others = endsAllBut({ spared: sparing(sessionId), endOtherSessions }, true)
  const change = { change: 'totpRemoved', source, askedIn: sessionId, ...others } as const
  if (!(await removeTotpFactor(ctx, user, change))) throw new AuthError('factor_not_found')
}

/**
 * A new set; the old one is void. Ends the other sessions if `endOtherSessions` is true. Throws
 * `email_not_verified`, `factor_not_found` without any factor, what `sessionRefusal` gives where the
 * session ended while the codes were made, and `step_up_required` where its proof was voided meanwhile.
 */
export async function regenerateBackupCodes(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  source: RequestSource,
  endOtherSessions?: boolean,
): Promise<readonly string[]> {
  requireProvedMailbox(user)
  const { backupCodeCount } = await ctx.settings()
  const enrolled = await enrolledFactors(ctx.collections, user.id)
  if (!hasFactor(enrolled)) throw new AuthError('factor_not_found')
  const others = endsAllBut({ spared: sparing(sessionId), endOtherSessions }, false)
  const asked = { source, askedIn: sessionId, ...others }
  const change = { change: 'backupCodesRegenerated', ...asked } as const
  const fresh = await generateBackupCodes(ctx, backupCodeCount, sessionLine(ctx.surface, sessionId))
  // The codes took their time to hash, in a queue that may be long.
  let retired: Pick<User, 'id' | 'deviceEpoch'> | null = user
  const mayReplace = async () => {
    retired = retired === null ? null : await retireProofs(ctx, retired, change)
    return retired !== null
  }
  const setId = await replaceBackupCodes(ctx, user.id, fresh, mayReplace)
  if (setId === null) throw new AuthError('session_revoked')
  factorChanged(ctx, user, change)
  return fresh.codes
}

/** Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`, what `sessionRefusal` gives. */
export async function stepUpByCode(
  ctx: SurfaceContext,
  who: SignedIn,
  shown: ShownCode,
  source: RequestSource,
): Promise<number> {
  const { user, sessionId } = who
  const { method } = shown
  const enrolled = await enrolledFactors(ctx.collections, user.id)
  const has = method === 'totp' ? enrolled.totp : hasFactor(enrolled)
  if (!has) throw new AuthError('factor_not_found')
  await requireOpenSession(ctx, who)
  await spendCode(ctx, user.id, { ...shown, sessionId }, source)
  const provedAt = await recordStepUp(ctx, user, sessionId, method)
  ctx.emit('mfa.steppedUp', source, { userId: user.id, sessionId, method })
  return provedAt
}

// Takes factors away, and tells of it. What was granted on a factor is void before the factor is gone:
// an interruption leaves the factor without it, and the next removal completes. Where the policy is
// `required`, one that may be used always stays, whatever races: throws `last_factor_required`. If two
// removals at once would leave none, one is refused, or both. False when there is no such factor.
// Throws what `sessionRefusal` gives where the session that asks ended meanwhile, and `step_up_required` where its proof
// was voided.

/** Why a factor has to stay. */
type Refusal = 'last_factor_required' | 'last_login_method'

/** One factor, by guarded writes to its own document. */
interface Removable {
  /** Puts a mark in place of any that is there; false when there is no such factor. */
  mark(nonce: string): Promise<boolean>
  unmark(nonce: string): Promise<unknown>
  /** Only while the nonce is the mark. */
  take(nonce: string): Promise<boolean>
  /** True if another factor may be used and is not being removed. */
  hasOther(): Promise<boolean>
  /** True if the user could not sign in any more without it. Null for one that opens no account. */
  readonly isLastWayIn: (() => Promise<boolean>) | null
}

/** A use of the factor, or another removal of it, moves the mark. */
const tries = 8

/**
 * Mark, look, retire, take. A removal that looks after both are marked sees the other's mark, so two
 * removals never take the last two. A use of the factor clears the mark, so what it grants after the
 * retirement is retired by another round before the factor is taken. A mark that a crash left behind
 * keeps the factor from being counted, and nothing else: it can be used, which clears the mark, and it
 * can be removed.
 */
async function remove(
  ctx: SurfaceContext,
  user: User,
  factor: Removable,
  change: FactorChange,
): Promise<boolean> {
  let retired: Pick<User, 'id' | 'deviceEpoch'> = user
  const removed = await retryOnConflict(tries, async () => {
    const nonce = randomToken(ctx.random, 16)
    if (!(await factor.mark(nonce))) return false
    try {
      const refusal = await refusalOf(ctx, factor)
      if (refusal !== null) throw new AuthError(refusal)
      const raised = await retireProofs(ctx, retired, change)
      if (raised === null) throw new AuthError('session_revoked')
      retired = raised
    } catch (error) {
      // A mark that stays does no harm, and the caller has to hear of the refusal.
      await factor.unmark(nonce).catch(() => {})
      throw error
    }
    return (await factor.take(nonce)) || conflict
  })
  if (removed) factorChanged(ctx, user, change)
  return removed
}

async function refusalOf(ctx: SurfaceContext, factor: Removable): Promise<Refusal | null> {
  const settings = await ctx.settings()
  const isRequired = settingsFor(ctx.surface, settings).mfaPolicy === 'required'
  if (isRequired && !(await factor.hasOther())) return 'last_factor_required'
  const isLastWayIn = settings.webauthnMode === 'passwordless' ? factor.isLastWayIn : null
  return (await isLastWayIn?.()) === true ? 'last_login_method' : null
}

async function hasApp(ctx: SurfaceContext, userId: string): Promise<boolean> {
  const factor = await ctx.collections.totpFactors.get(userId)
  return factor?.confirmed === true && factor.removingBy === null
}

async function hasAllowedApp(ctx: SurfaceContext, userId: string): Promise<boolean> {
  return allowedFactors(await ctx.settings()).totp && hasApp(ctx, userId)
}

/**
 * One that never verified the person may be refused at the next login. So it counts only in the place of one like it, or
 * where an app is asked for beside it, see `usableMethods`.
 */
async function hasPasskeyBeside(
  ctx: SurfaceContext,
  userId: string,
  credentialId: string | null,
): Promise<boolean> {
  const { webauthn, userVerification } = allowedFactors(await ctx.settings())
  if (!webauthn) return false
  const all = await passkeysOfUser(ctx.collections, userId)
  const others = all.filter(({ id, removingBy }) => id !== credentialId && removingBy === null)
  if (others.some(({ uvInitialized }) => uvInitialized || !userVerification)) return true
  if (credentialId === null || others.length === 0) return false
  const isLikeIt = all.some(({ id, uvInitialized }) => id === credentialId && !uvInitialized)
  return isLikeIt || hasApp(ctx, userId)
}

/** Only one that verifies the person opens an account by itself. */
async function isLastPasskeyIn(
  ctx: SurfaceContext,
  userId: string,
  credentialId: string,
): Promise<boolean> {
  const all = await passkeysOfUser(ctx.collections, userId)
  const opening = all.filter(({ uvInitialized }) => uvInitialized)
  if (opening.every(({ id }) => id !== credentialId)) return false
  if (opening.some(({ id, removingBy }) => id !== credentialId && removingBy === null)) return false
  const identities = await ctx.collections.oauthIdentities.find({ userId }, { limit: 100 })
  const staying = identities.filter(({ removingBy }) => removingBy === null)
  return !(await hasWayIn(ctx, userId, staying))
}

function appOf(ctx: SurfaceContext, userId: string): Removable {
  return {
    async mark(nonce) {
      const guard = { confirmed: true }
      return (
        (await ctx.collections.totpFactors.update(userId, guard, { removingBy: nonce })) !== null
      )
    },
    unmark: (nonce) =>
      ctx.collections.totpFactors.update(userId, { removingBy: nonce }, { removingBy: null }),
    async take(nonce) {
      const guard = { confirmed: true, removingBy: nonce }
      return (await ctx.collections.totpFactors.take(userId, guard)) !== null
    },
    hasOther: () => hasPasskeyBeside(ctx, userId, null),
    isLastWayIn: null,
  }
}

function passkeyOf(ctx: SurfaceContext, userId: string, credentialId: string): Removable {
  return {
    async mark(nonce) {
      return (
        (await ctx.collections.passkeys.update(credentialId, { userId }, { removingBy: nonce })) !==
        null
      )
    },
    unmark: (nonce) =>
      ctx.collections.passkeys.update(credentialId, { removingBy: nonce }, { removingBy: null }),
    async take(nonce) {
      return (
        (await ctx.collections.passkeys.take(credentialId, { userId, removingBy: nonce })) !== null
      )
    },
    hasOther: async () =>
      (await hasAllowedApp(ctx, userId)) || (await hasPasskeyBeside(ctx, userId, credentialId)),
    isLastWayIn: () => isLastPasskeyIn(ctx, userId, credentialId),
  }
}

export function removeTotpFactor(
  ctx: SurfaceContext,
  user: User,
  change: FactorChange,
): Promise<boolean> {
  return remove(ctx, user, appOf(ctx, user.id), change)
}

/**
 * Where a passkey stands for both factors, one that is the user's last way to sign in stays as well:
 * throws `last_login_method`.
 */
export function removePasskeyFactor(
  ctx: SurfaceContext,
  user: User,
  credentialId: string,
  change: FactorChange,
): Promise<boolean> {
  return remove(ctx, user, passkeyOf(ctx, user.id, credentialId), change)
}
