import type { User } from '../../model/user.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SpentIntent } from '../intents/spent-intent.js'

/** What stores one factor, and takes it away again. */
export interface FactorWrite {
  /** False when another request came between; then nothing is stored. */
  store(): Promise<boolean>
  takeBack(): Promise<unknown>
}

/** The one way by which a user gets a factor. */
export interface FactorEnrollment {
  /**
   * The user as the enrolment left them; null when their factors, password or standing changed since
   * the intent began, and then nothing is left of the factor. It voids earlier proofs, trusted devices
   * and other enrolments: of two that began at once, one is stored.
   */
  enroll(
    intent: SpentIntent<'totpEnrollment' | 'passkeyRegistration'>,
    factor: FactorWrite,
  ): Promise<User | null>
}

export function createFactorEnrollment({
  collections: { users },
}: Pick<SurfaceContext, 'collections'>): FactorEnrollment {
  /** Moves the epoch from the one that the intent began with, or sees that it did so before. */
  async function claim({
    id: lastIntentId,
    user: { id },
    payload: { deviceEpoch, credentialEpoch },
  }: SpentIntent<'totpEnrollment' | 'passkeyRegistration'>): Promise<User | null> {
    const guard = { deviceEpoch, credentialEpoch, enabled: true, kind: '' }
    const set = { deviceEpoch: deviceEpoch + 1, lastIntentId }
    const claimed = await users.update(id, guard, set)
    if (claimed !== null) return claimed
    // The write may have been ours: of an earlier request, or carried out twice by a driver.
    const found = await users.get(id)
    const isOurs = found?.lastIntentId === lastIntentId && found.deviceEpoch === deviceEpoch + 1
    return isOurs && found.credentialEpoch === credentialEpoch && found.enabled ? found : null
  }

  /** An epoch never goes back: a lower one than was written is a read that lags, and is made again. */
  async function readAfter({ id, deviceEpoch }: User): Promise<User | null> {
    const user = await users.get(id)
    return user !== null && user.deviceEpoch < deviceEpoch ? users.get(id) : user
  }

  return {
    async enroll(intent, factor) {
      const claimed = await claim(intent)
      if (claimed === null || !(await factor.store())) return null
      // What removes factors moves the epoch first and looks then: of the two, one sees the other.
      const user = await readAfter(claimed)
      if (user?.deviceEpoch === claimed.deviceEpoch && user.enabled) return user
      await factor.takeBack()
      return null
    },
  }
}
