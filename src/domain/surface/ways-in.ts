import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import { isTenantAllowed, tenantOfIssuer } from '../../identity-providers/microsoft-tenants.js'
import type { ProviderCredentials } from '../../identity-providers/provider.js'
import { type ProviderId, providerId } from '../../identity-providers/providers.js'
import type { OauthIdentity } from '../../model/user.js'
import type { Surface } from '../../ports/surface.js'
import { providerSettings } from '../../settings/oauth-providers.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { SurfaceContext } from './surface-context.js'

/**
 * Whether people of this surface can sign in there: administrators let them, and the host is
 * registered with all it takes.
 */
export function isProviderOffered(
  id: ProviderId,
  surface: Surface,
  settings: AuthSettings,
): boolean {
  try {
    credentialsFor(id, surface, settings)
    return true
  } catch (error) {
    if (error instanceof AuthError) return false
    throw error
  }
}

/** False of an account of Microsoft whose tenant administrators have shut out. */
export function isTenantAdmitted(
  { provider, issuer }: Pick<OauthIdentity, 'provider' | 'issuer'>,
  { microsoftTenant }: Pick<AuthSettings, 'microsoftTenant'>,
): boolean {
  if (provider !== 'microsoft') return true
  const tenant = tenantOfIssuer(issuer)
  return tenant !== null && isTenantAllowed(tenant, microsoftTenant)
}

/**
 * What the host is registered with. Throws `oauth_provider_disabled` when the provider is switched
 * off on this surface or lacks something, and `service_unavailable` when a secret does not decrypt.
 */
export function credentialsFor(
  id: ProviderId,
  surface: Surface,
  settings: AuthSettings,
): ProviderCredentials {
  const surfaceName = surface === 'operator' ? 'Operator' : 'Client'
  if (!settings[`${id}${surfaceName}Enabled` as const])
    throw new AuthError('oauth_provider_disabled')
  const { clientId, clientSecret, tenant, teamId, keyId } = providerSettings[id].credentials
  const credentials = {
    clientId: settings[clientId],
    clientSecret: settings[clientSecret],
    ...(tenant && { tenant: settings[tenant] }),
    ...(teamId && { teamId: settings[teamId] }),
    ...(keyId && { keyId: settings[keyId] }),
  }
  if (Object.values(credentials).includes('')) throw new AuthError('oauth_provider_disabled')
  return { tenant: '', teamId: '', keyId: '', ...credentials }
}

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
