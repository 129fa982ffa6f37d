import { type EnrolledFactors, enrolledMark } from '../../engine/factors.js'
import type { Collections } from '../../model/collections.js'
import { type BackupCodes, maxPasskeys, type Passkey } from '../../model/factors.js'
import type { User } from '../../model/user.js'

/** What an account can show a second factor with, read afresh. */
export async function enrolledFactors(
  collections: Pick<Collections, 'totpFactors' | 'backupCodes' | 'passkeys'>,
  userId: string,
): Promise<EnrolledFactors> {
  const [totp, codes, passkeys] = await Promise.all([
    collections.totpFactors.get(userId),
    collections.backupCodes.get(userId),
    passkeysOfUser(collections, userId),
  ])
  return {
    totp: totp?.confirmed === true,
    passkeys: passkeys.length,
    verifyingPasskeys: passkeys.filter(({ uvInitialized }) => uvInitialized).length,
    backupCodes: codes === null ? 0 : remainingCodes(codes),
  }
}

/** All of them. */
export function passkeysOfUser(
  { passkeys }: Pick<Collections, 'passkeys'>,
  userId: string,
): Promise<readonly Passkey[]> {
  return passkeys.find({ userId }, { limit: maxPasskeys })
}

/** How many codes of a set were not used yet. */
export function remainingCodes({ hashes, usedMask }: BackupCodes): number {
  return hashes.filter((_, index) => (usedMask & (1 << index)) === 0).length
}

/**
 * To be called before another enrolment takes the place of the settled one, with the user whose epochs its write guards.
 * It marks the factor of the settled one as complete. Without the mark, a factor whose own request died too early would
 * count as overtaken.
 */
export async function keepEnrolledFactor(
  collections: Pick<Collections, 'totpFactors' | 'passkeys'>,
  { id: userId, settledEnrollmentId: enrollmentId }: Pick<User, 'id' | 'settledEnrollmentId'>,
): Promise<void> {
  if (enrollmentId === null) return
  const settled = { enrollmentId: enrolledMark(enrollmentId) }
  const { totpFactors, passkeys } = collections
  const keepPasskey = async () => {
    const all = await passkeysOfUser(collections, userId)
    const own = all.find((passkey) => passkey.enrollmentId === enrollmentId)
    if (own !== undefined) await passkeys.update(own.id, { enrollmentId }, settled)
  }
  await Promise.all([totpFactors.update(userId, { enrollmentId }, settled), keepPasskey()])
}
