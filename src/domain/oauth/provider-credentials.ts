import { AuthError } from '../../errors/index.js'
import type { ProviderCredentials, ProviderId } from '../../identity-providers/provider.js'
import type { Surface } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'

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

/**
 * What the host is registered with. Throws `oauth_provider_disabled` when the provider is switched
 * off on this surface or lacks something, and `service_unavailable` when a secret does not decrypt.
 */
export function credentialsFor(
  id: ProviderId,
  surface: Surface,
  settings: AuthSettings,
): ProviderCredentials {
  const door = surface === 'operator' ? 'Operator' : 'Client'
  if (!settings[`${id}${door}Enabled` as const]) throw new AuthError('oauth_provider_disabled')
  const { microsoftTenant, appleTeamId, appleKeyId } = settings
  const credentials = {
    clientId: clientIdOf(id, settings),
    clientSecret: secretOf(id, settings),
    tenant: id === 'microsoft' ? microsoftTenant : '',
    teamId: id === 'apple' ? appleTeamId : '',
    keyId: id === 'apple' ? appleKeyId : '',
  }
  const { clientId, clientSecret, tenant, teamId, keyId } = credentials
  const needed = {
    google: [clientId, clientSecret],
    microsoft: [clientId, clientSecret, tenant],
    apple: [clientId, clientSecret, teamId, keyId],
    github: [clientId, clientSecret],
  }
  if (needed[id].includes('')) throw new AuthError('oauth_provider_disabled')
  return credentials
}

function clientIdOf(id: ProviderId, settings: AuthSettings): string {
  return id === 'apple' ? settings.appleServicesId : settings[`${id}ClientId` as const]
}

function secretOf(id: ProviderId, settings: AuthSettings): string {
  return id === 'apple' ? settings.applePrivateKey : settings[`${id}ClientSecret` as const]
}
