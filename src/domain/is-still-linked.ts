import type { LoginTicket } from '../model/login-ticket.js'
import { providerId } from '../oauth/provider.js'
import type { SurfaceDeps } from './surface-deps.js'

/**
 * Whether a login half done by a provider may go on: an account of it is still linked. True for a
 * login that began otherwise.
 */
export async function isStillLinked(
  { oauthIdentities }: Pick<SurfaceDeps['collections'], 'oauthIdentities'>,
  { userId, loginMethod: provider }: Pick<LoginTicket, 'userId' | 'loginMethod'>,
): Promise<boolean> {
  if (providerId(provider) === null) return true
  return (await oauthIdentities.find({ userId, provider }, { limit: 1 })).length > 0
}
