import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

/**
 * From its resolving on, no step-up proof and no trusted device of before counts. Null when
 * the user is gone.
 */
export function raiseDeviceEpoch(users: Collection<User>, userId: string): Promise<User | null> {
  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    const { deviceEpoch } = user
    const set = { deviceEpoch: deviceEpoch + 1 }
    return (await users.update(userId, { deviceEpoch }, set)) ?? conflict
  })
}
