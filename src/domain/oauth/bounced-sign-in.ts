import { AuthError } from '../../errors/index.js'
import type { LinkKeyGrant, LinkOffers } from '../intents/link-offers.js'
import type { ArrivedProfile } from './provider-proofs.js'

/** A sign-in whose address belongs to an account, and what the browser keeps of it. */
export class BouncedSignIn extends AuthError {
  readonly link: LinkKeyGrant | null

  constructor(link: LinkKeyGrant | null) {
    super('account_exists_link_required')
    this.link = link
  }
}

/**
 * What `attempt` resolves with. Notes a sign-in that bounced, to be offered to the account's user, and
 * rejects with a `BouncedSignIn`; anything else that went wrong passes as it is.
 */
export async function notingBounce<T>(
  linkOffers: () => Promise<LinkOffers>,
  { profile, intent }: ArrivedProfile,
  attempt: Promise<T>,
): Promise<T> {
  try {
    return await attempt
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'account_exists_link_required') throw error
    const { codeChallenge } = intent.payload
    const holder = intent.kind === 'oauthWeb' ? 'browser' : { codeChallenge }
    throw new BouncedSignIn(await (await linkOffers()).note(profile, holder))
  }
}
