import type { User } from '../../model/user.js'
import type { Collection } from '../../ports/store.js'

/**
 * True if a user's password, factors and enabled state did not change since `seen` was read. Asked
 * once a new factor is stored: what removes factors raises the epoch first, so of a factor and a
 * reset that race each other, one sees the other.
 */
export async function isUnchanged(
  users: Collection<User>,
  { id, deviceEpoch }: User,
): Promise<boolean> {
  const user = await users.get(id)
  return user?.deviceEpoch === deviceEpoch && user.enabled
}
