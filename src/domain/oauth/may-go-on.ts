import { providerId } from '../../identity-providers/providers.js'
import type { LoginTicket } from '../../model/login-ticket.js'
import { isProviderOffered } from '../context/provider-credentials.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { OauthCodes } from '../intents/oauth-codes.js'

/**
 * Whether a login half done by a provider may go on: the provider is on, the account there that
 * signed in is still linked, and the code of an app did not come again. True for a login that began
 * otherwise.
 */
export async function mayGoOn(
  { surface, collections, settings }: Pick<SurfaceContext, 'surface' | 'collections' | 'settings'>,
  codes: Pick<OauthCodes, 'isGood'>,
  { userId, loginMethod, identityId, oauthCodeId }: LoginTicket,
): Promise<boolean> {
  const provider = providerId(loginMethod)
  if (provider === null) return true
  const [identity, isCodeGood, current] = await Promise.all([
    collections.oauthIdentities.get(identityId),
    codes.isGood(oauthCodeId),
    settings(),
  ])
  const isLinked = identity?.userId === userId
  return isLinked && isCodeGood && isProviderOffered(provider, surface, current)
}
