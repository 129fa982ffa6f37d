import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

interface Terms {
  /** The only session that can be refreshed from then on; left out, all can that could before. */
  readonly kept?: { readonly sessionId: string } | undefined
  /** Throws where it may not be done to the user as they are now. Default: it may. */
  readonly requireRight?: (user: User) => Promise<void>
}

/**
 * Once this resolves, no earlier step-up proof and no earlier trusted device counts. With `kept`, no
 * session but that one can be refreshed either: by the same write, so that no crash leaves the others
 * open. Null when the user is gone.
 */
export function raiseDeviceEpoch(
  users: Collection<User>,
  userId: string,
  { kept, requireRight }: Terms = {},
): Promise<User | null> {
  let tried: Pick<User, 'deviceEpoch' | 'sessionEpoch'> | null = null

  /** A driver may carry a write out twice, and tell of the second one alone. */
  function isWritten({ deviceEpoch, sessionEpoch, keptSessionId }: User): boolean {
    const isNext = deviceEpoch === tried?.deviceEpoch && sessionEpoch === tried.sessionEpoch
    return isNext && kept !== undefined && keptSessionId === kept.sessionId
  }

  return retryOnConflict(10, async () => {
    const user = await users.get(userId)
    if (user === null) return null
    if (isWritten(user)) return user
    await requireRight?.(user)
    const { deviceEpoch, sessionEpoch } = user
    const next = { deviceEpoch: deviceEpoch + 1, sessionEpoch: sessionEpoch + 1 }
    tried = next
    const set =
      kept === undefined
        ? { deviceEpoch: next.deviceEpoch }
        : { ...next, keptSessionId: kept.sessionId }
    return (await users.update(userId, { deviceEpoch, sessionEpoch }, set)) ?? conflict
  })
}
