import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

/**
 * From its resolving on, no step-up proof and no trusted device of before counts. With `kept`, no
 * session but that one can be refreshed either: by the same write, so that no crash leaves the others
 * open. Null when the user is gone.
 */
export function raiseDeviceEpoch(
  users: Collection<User>,
  userId: string,
  kept?: { readonly sessionId: string },
): Promise<User | null> {
  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    const { deviceEpoch, sessionEpoch } = user
    const others =
      kept === undefined ? {} : { sessionEpoch: sessionEpoch + 1, keptSessionId: kept.sessionId }
    const set = { deviceEpoch: deviceEpoch + 1, ...others }
    return (await users.update(userId, { deviceEpoch, sessionEpoch }, set)) ?? conflict
  })
}
