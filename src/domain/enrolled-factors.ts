import type { EnrolledFactors } from '../engine/second-factor.js'
import type { BackupCodes } from '../model/backup-codes.js'
import type { Collections } from '../model/collections.js'

/** What an account can show a second factor with, read afresh. */
export async function enrolledFactors(
  { totpFactors, backupCodes }: Collections,
  userId: string,
): Promise<EnrolledFactors> {
  const [totp, codes] = await Promise.all([totpFactors.get(userId), backupCodes.get(userId)])
  return {
    totp: totp?.confirmed === true,
    backupCodes: codes === null ? 0 : remainingCodes(codes),
  }
}

/** How many codes of a set were not used yet. */
export function remainingCodes({ hashes, usedMask }: BackupCodes): number {
  return hashes.filter((_, index) => (usedMask & (1 << index)) === 0).length
}
