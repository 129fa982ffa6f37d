import type { SurfaceContext } from './surface-context.js'

/**
 * Ids are never used again: takes back an account that was made just now where an account with its id was deleted. True
 * where it did. Where that cannot be known, it takes the account back as well, and rejects: the next attempt makes it.
 */
export async function takeBackUsed(
  { users, accountDeletions }: Pick<SurfaceContext['collections'], 'users' | 'accountDeletions'>,
  id: string,
): Promise<boolean> {
  let isUsed = true
  try {
    isUsed = (await accountDeletions.get(id)) !== null
    return isUsed
  } finally {
    if (isUsed) await users.take(id)
  }
}
