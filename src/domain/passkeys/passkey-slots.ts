import { AuthError } from '../../errors/index.js'
import { maxPasskeys, type Passkey } from '../../model/factors.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** A passkey that has no slot yet. */
export type NewPasskey = Omit<Passkey, 'slot'>

/**
 * The places for a user's passkeys. Each is held by one passkey, by a unique index of the store, so
 * parallel registrations can never exceed the limit.
 */
export interface PasskeySlots {
  /** The user's passkeys. Throws `factor_already_enrolled` when there are as many as there may be. */
  requireRoom(userId: string): Promise<readonly Passkey[]>
  /**
   * Stores a passkey in a free slot; one that is stored already stays as it is. Throws
   * `factor_already_enrolled` without a free slot, and for a credential of another registration.
   */
  store(passkey: NewPasskey): Promise<void>
}

/** Each conflict is another passkey that came or went, of which there are few. */
const tries = 2 * maxPasskeys

export function createPasskeySlots({
  collections,
}: Pick<SurfaceContext, 'collections'>): PasskeySlots {
  const { passkeys } = collections

  async function requireRoom(userId: string): Promise<readonly Passkey[]> {
    const existing = await passkeysOfUser(collections, userId)
    if (existing.length < maxPasskeys) return existing
    const detail = `There are ${maxPasskeys} passkeys already. Remove one first.`
    throw new AuthError('factor_already_enrolled', { detail })
  }

  return {
    requireRoom,

    store(passkey) {
      const { id, userId, lastChallenge } = passkey
      return retryOnConflict(tries, async () => {
        const slot = freeSlot(await requireRoom(userId))
        if (await passkeys.insert({ ...passkey, slot })) return
        const found = await passkeys.get(id)
        // Another passkey has the slot now.
        if (found === null) return conflict
        // This very registration: the store stored it and said otherwise.
        if (found.lastChallenge === lastChallenge) return
        throw new AuthError('factor_already_enrolled')
      })
    },
  }
}

function freeSlot(existing: readonly Passkey[]): number {
  const held = new Set(existing.map(({ slot }) => slot))
  let slot = 0
  while (held.has(slot)) slot += 1
  return slot
}
