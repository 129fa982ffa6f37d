import { enrollmentOf } from '../../engine/factors.js'
import type { Collections } from '../../model/collections.js'
import type { User } from '../../model/user.js'
import { passkeysOfUser } from './enrolled-factors.js'

/**
 * To be called before a write that sets another `lastIntentId`, with the user whose epochs that write guards. Where the
 * present one says that an enrolment is complete, this marks the factor as complete as well. Without the mark, a factor
 * whose own request died too early would count as overtaken.
 */
export async function keepEnrolledFactor(
  collections: Pick<Collections, 'totpFactors' | 'passkeys'>,
  { id: userId, lastIntentId }: Pick<User, 'id' | 'lastIntentId'>,
): Promise<void> {
  const enrollmentId = enrollmentOf(lastIntentId)
  if (lastIntentId === null || enrollmentId === null) return
  const settled = { enrollmentId: lastIntentId }
  const { totpFactors, passkeys } = collections
  const keepPasskey = async () => {
    const all = await passkeysOfUser(collections, userId)
    const own = all.find((passkey) => passkey.enrollmentId === enrollmentId)
    if (own !== undefined) await passkeys.update(own.id, { enrollmentId }, settled)
  }
  await Promise.all([totpFactors.update(userId, { enrollmentId }, settled), keepPasskey()])
}
