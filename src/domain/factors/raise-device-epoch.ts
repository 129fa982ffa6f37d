import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

interface Terms {
  /** The only session that can be refreshed from then on; left out, all can that could before. */
  readonly kept?: { readonly sessionId: string } | undefined
  /** Whether it may be done to the user as they are now. Default: it may. */
  readonly mayRaise?: (user: User) => Promise<boolean>
}

/**
 * From its resolving on, no step-up proof and no trusted device of before counts. With `kept`, no
 * session but that one can be refreshed either: by the same write, so that no crash leaves the others
 * open. Null when the user is gone, or when it may not be done.
 */
export function raiseDeviceEpoch(
  users: Collection<User>,
  userId: string,
  { kept, mayRaise }: Terms = {},
): Promise<User | null> {
  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null || (await mayRaise?.(user)) === false) return null
    const { deviceEpoch, sessionEpoch } = user
    const others =
      kept === undefined ? {} : { sessionEpoch: sessionEpoch + 1, keptSessionId: kept.sessionId }
    const set = { deviceEpoch: deviceEpoch + 1, ...others }
    return (await users.update(userId, { deviceEpoch, sessionEpoch }, set)) ?? conflict
  })
}
