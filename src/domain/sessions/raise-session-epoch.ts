import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'

/**
 * From its resolving on, no refresh family opened before can be refreshed. Sparing a session of an
 * earlier call ends with this one. Trusted devices of before are trusted no more. Null when the
 * user is gone.
 */
export async function raiseSessionEpoch(
  users: Collection<User>,
  userId: string,
): Promise<User | null> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const user = await users.get(userId)
    if (user === null) return null
    const { sessionEpoch, deviceEpoch } = user
    const raised = await users.update(
      userId,
      { sessionEpoch, deviceEpoch },
      { sessionEpoch: sessionEpoch + 1, deviceEpoch: deviceEpoch + 1, keptSessionId: null },
    )
    if (raised !== null) return raised
  }
  throw new AuthError('service_unavailable')
}
