import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

/**
 * Once this resolves, no refresh family opened before can be refreshed. Sparing a session of an
 * earlier call ends with this one. Trusted devices of before are trusted no more. Null when the
 * user is gone.
 */
export function raiseSessionEpoch(users: Collection<User>, userId: string): Promise<User | null> {
  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    const { sessionEpoch, deviceEpoch } = user
    const raised = await users.update(
      userId,
      { sessionEpoch, deviceEpoch },
      { sessionEpoch: sessionEpoch + 1, deviceEpoch: deviceEpoch + 1, keptSessionId: null },
    )
    return raised ?? conflict
  })
}
