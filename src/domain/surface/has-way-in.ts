import { settingsFor } from '../../engine/surface-settings.js'
import { providerId } from '../../identity-providers/providers.js'
import type { OauthIdentity } from '../../model/user.js'
import { isProviderOffered, isTenantAdmitted } from '../context/provider-credentials.js'
import type { SurfaceContext } from './surface-context.js'

/** Whether a user can sign in by the password of the account, or by one of these accounts at providers. */
export async function hasWayIn(
  { surface, collections, settings }: Pick<SurfaceContext, 'surface' | 'collections' | 'settings'>,
  userId: string,
  identities: readonly Pick<OauthIdentity, 'provider' | 'issuer'>[],
): Promise<boolean> {
  const [user, current] = await Promise.all([collections.users.get(userId), settings()])
  const { passwordLoginEnabled } = settingsFor(surface, current)
  if (user !== null && user.passwordHash !== null && passwordLoginEnabled) return true
  return identities.some((identity) => {
    const id = providerId(identity.provider)
    if (id === null || !isProviderOffered(id, surface, current)) return false
    return isTenantAdmitted(identity, current)
  })
}

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
