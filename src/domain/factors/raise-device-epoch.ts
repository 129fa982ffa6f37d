import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'

/**
 * From its resolving on, no step-up proof and no trusted device of before counts. Null when
 * the user is gone.
 */
export async function raiseDeviceEpoch(
  users: Collection<User>,
  userId: string,
): Promise<User | null> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const user = await users.get(userId)
    if (user === null) return null
    const { deviceEpoch } = user
    const raised = await users.update(userId, { deviceEpoch }, { deviceEpoch: deviceEpoch + 1 })
    if (raised !== null) return raised
  }
  throw new AuthError('service_unavailable')
}
