import type { LoginTicket } from '../model/login-ticket.js'
import { providerId } from '../oauth/provider.js'
import type { OauthCodes } from './oauth-codes.js'
import type { SurfaceDeps } from './surface-deps.js'

/**
 * Whether a login half done by a provider may go on: an account of it is still linked, and the code
 * of an app did not come again. True for a login that began otherwise.
 */
export async function mayGoOn(
  { oauthIdentities }: Pick<SurfaceDeps['collections'], 'oauthIdentities'>,
  codes: Pick<OauthCodes, 'isGood'>,
  { userId, loginMethod: provider, oauthCodeId }: LoginTicket,
): Promise<boolean> {
  if (providerId(provider) === null) return true
  const [linked, isCodeGood] = await Promise.all([
    oauthIdentities.find({ userId, provider }, { limit: 1 }),
    codes.isGood(oauthCodeId),
  ])
  return linked.length > 0 && isCodeGood
}
