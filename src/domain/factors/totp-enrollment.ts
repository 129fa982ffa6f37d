import { sha256 } from '../../crypto/secrets.js'
import { otpauthUri } from '../../crypto/totp.js'
import { AuthError } from '../../errors/index.js'
import type { EnrollmentNotice } from '../../model/factors.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import { openIntent, type SpentIntent, spendIntent, unlessRefused } from '../intents/intents.js'
import { networkLine } from '../passwords/password-check.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { type FreshCodes, generateBackupCodes, replaceBackupCodes } from './code-verification.js'
import { factorEnrolled, requireProvedMailbox } from './factor-changes.js'
import { type EnrolledUser, type EnrollmentPlace, enrollFactor } from './factor-enrollment.js'
import {
  beginTotp,
  confirmTotp,
  matchTotpOf,
  type PendingTotp,
  pendingTotp,
} from './totp-factors.js'

// How an authenticator app becomes a factor, for a person signed in or a login that lacks one.

export type EnrollmentTerms = Pick<AuthSettings, 'backupCodeCount' | 'totpIssuer'>

/** A code, and the session or the login that shows it. */
export interface ShownTotp {
  readonly boundTo: string
  readonly code: string
}

export interface ConfirmedTotp extends EnrolledUser {
  readonly intent: SpentIntent<'totpEnrollment'>
}

/** Null for what the judge refuses: callers say the same of whatever is wrong with a code. */
function opened(ctx: SurfaceContext, { factor, expiresAt }: PendingTotp, user: User) {
  const { userId, boundTo, credentialEpoch, deviceEpoch } = factor
  const epochs = { sessionEpoch: null, credentialEpoch, deviceEpoch }
  const rest = { kind: 'totpEnrollment', attempts: 0, payload: {}, expiresAt }
  const stored = { id: sha256(factor.sealedSecret), userId, boundTo, ...epochs, ...rest }
  const opening = openIntent(ctx, 'totpEnrollment', stored, { seen: user })
  return unlessRefused('totpEnrollment', opening)
}

/**
 * The codes took their time to hash, in a queue that may be long. A request that removes the factor meanwhile, or makes
 * other codes, moves the epoch first and looks at the codes then, so one of the two requests sees the other.
 */
async function isStored(ctx: SurfaceContext, user: User, fresh: FreshCodes): Promise<boolean> {
  const isUnchanged = async () =>
    (await ctx.collections.users.get(user.id))?.deviceEpoch === user.deviceEpoch
  // The codes of an earlier factor, if any are left, are void with this.
  const setId = await replaceBackupCodes(ctx, user.id, fresh, isUnchanged)
  if (setId === null) return false
  let stands = false
  try {
    stands = await isUnchanged()
  } finally {
    if (!stands) await ctx.collections.backupCodes.take(user.id, { setId })
  }
  return stands
}

/** The app may stand: then it was confirmed, and only the codes are still to be made. */
async function noneFor(ctx: SurfaceContext, { id }: User): Promise<readonly string[]> {
  const factor = await ctx.collections.totpFactors.get(id)
  if (factor?.confirmed !== true) throw new AuthError('invalid_mfa_code')
  return []
}

/** To be read before anything is written. Throws `mfa_method_disabled`. */
export async function totpTerms(ctx: SurfaceContext): Promise<EnrollmentTerms> {
  const settings = await ctx.settings()
  if (!settings.totpEnabled) throw new AuthError('mfa_method_disabled')
  return settings
}

/** A secret to be scanned. Throws `email_not_verified` and `factor_already_enrolled`. */
export async function beginTotpEnrollment(
  ctx: SurfaceContext,
  user: User,
  boundTo: string,
  { totpIssuer }: EnrollmentTerms,
): Promise<{ readonly secret: string; readonly otpauthUri: string }> {
  requireProvedMailbox(user)
  const secret = await beginTotp(ctx, user, boundTo)
  return { secret, otpauthUri: await otpauthUri(secret, totpIssuer, user.email) }
}

/**
 * Null for a wrong code, one from another session or login than the secret was shown in, and an
 * account that changed since. Throws `email_not_verified`, and `session_revoked` or `session_max_age_reached` where the session has ended.
 */
export async function confirmTotpEnrollment(
  ctx: SurfaceContext,
  user: User,
  { boundTo, code }: ShownTotp,
  place: EnrollmentPlace,
): Promise<ConfirmedTotp | null> {
  requireProvedMailbox(user)
  const pending = await pendingTotp(ctx, user.id)
  if (pending?.factor.boundTo !== boundTo) return null
  const intent = await opened(ctx, pending, user)
  if (intent === null) return null
  const matched = await matchTotpOf(ctx, pending.factor, code)
  if (matched === null) return null
  const spent = spendIntent(intent)
  const write = {
    store: (notice: EnrollmentNotice) => confirmTotp(ctx, matched, notice),
    takeBack: ({ enrollmentId }: EnrollmentNotice) =>
      ctx.collections.totpFactors.take(user.id, { enrollmentId }),
    mark: ({ enrollmentId }: EnrollmentNotice, to: string) =>
      ctx.collections.totpFactors.update(user.id, { enrollmentId }, { enrollmentId: to }),
    told: ({ expiresAt }: EnrollmentNotice) =>
      ctx.collections.totpFactors.update(
        user.id,
        { expiresAt },
        { expiresAt: null, enrollmentId: null },
      ),
  }
  const enrolled = await enrollFactor(ctx, spent, write, place)
  return enrolled === null ? null : { ...enrolled, intent: spent }
}

/**
 * What follows the confirmation: the mail to the owner, and the backup codes, which are shown this once. None, where the
 * factors or the password of the account were changed while they were made. Throws `invalid_mfa_code` where the app was
 * removed again.
 */
export async function finishTotpEnrollment(
  ctx: SurfaceContext,
  { user, others, told }: ConfirmedTotp,
  { backupCodeCount }: EnrollmentTerms,
  source: RequestSource,
): Promise<readonly string[]> {
  // At once: the codes take their time, and may fail, and the owner is to be told of the app all the same.
  await factorEnrolled(ctx, user, { change: 'totpEnrolled', source, ...others, told })
  const line = networkLine(ctx.surface, source)
  const fresh = await generateBackupCodes(ctx, backupCodeCount, line)
  if (!(await isStored(ctx, user, fresh))) return noneFor(ctx, user)
  return fresh.codes
}
