import type { SurfaceContext } from './surface-context.js'

/**
 * Ids are never used again: takes back an account that was made just now where an account with its id was deleted. True
 * where it did. Rejects where that cannot be known, and leaves the account: another request may have got in with it.
 */
export async function takeBackUsed(
  { users, accountDeletions }: Pick<SurfaceContext['collections'], 'users' | 'accountDeletions'>,
  id: string,
): Promise<boolean> {
  if ((await accountDeletions.get(id)) === null) return false
  await users.take(id)
  return true
}
