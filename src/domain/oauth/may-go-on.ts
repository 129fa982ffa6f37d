import { admissionRefusal, admissionRules, loginDoor } from '../../engine/admission.js'
import { providerId } from '../../identity-providers/providers.js'
import type { LoginTicket } from '../../model/login-ticket.js'
import { isProviderOffered } from '../context/provider-credentials.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { OauthCodes } from '../intents/oauth-codes.js'

/**
 * Whether a half-done login may go on. By a password: signing in with one is still switched on. By a
 * provider: it is on, the account there that signed in is still linked, and the code of an app did not
 * come again. True for a login that began otherwise.
 */
export async function mayGoOn(
  { surface, collections, settings }: Pick<SurfaceContext, 'surface' | 'collections' | 'settings'>,
  codes: Pick<OauthCodes, 'isGood'>,
  { userId, loginMethod, identityId, oauthCodeId }: LoginTicket,
): Promise<boolean> {
  if (loginMethod === 'password') {
    const rules = admissionRules(surface, await settings())
    return admissionRefusal(loginDoor(loginMethod), rules) === null
  }
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
