import { AuthError } from '../../errors/index.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { Collection } from '../../ports/store.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'

/**
 * Once it resolves, no refresh token of this session that is out by now is exchanged for the newest: one of
 * its holders refreshes, and a refresh by the next is a replay. Resolves with the session's row; null where that
 * was swept, so that no token is left that could be refreshed. Throws `session_revoked` for a session that has ended.
 */
export function barReissues(
  families: Collection<RefreshFamily>,
  { id, userId }: Pick<RefreshFamily, 'id' | 'userId'>,
): Promise<RefreshFamily | null> {
  return retryOnConflict(10, async () => {
    const family = await families.get(id)
    if (family === null) return null
    if (family.revokedAt !== null || family.userId !== userId) {
      throw new AuthError('session_revoked')
    }
    const { generation } = family
    const guard = { userId, generation, revokedAt: null }
    const barred = await families.update(id, guard, { noReissueUpTo: generation })
    return barred ?? conflict
  })
}
