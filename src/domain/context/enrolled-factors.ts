import type { EnrolledFactors } from '../../engine/factors.js'
import type { Collections } from '../../model/collections.js'
import { type BackupCodes, maxPasskeys, type Passkey } from '../../model/factors.js'

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
