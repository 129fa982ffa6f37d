import { isUuid } from '../../crypto/secrets.js'
import { AuthError, type ErrorCode } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import { isBeingLinked, isHuman, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { hasWayIn } from '../context/has-way-in.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { ReAuthentication } from '../factors/re-authentication.js'
import { requireProvedMailbox } from '../factors/require-proved-mailbox.js'
import type { LinkOffersPart } from '../intents/assemble-intents.js'
import type { ShownLinkKey } from '../intents/link-offers.js'
import type { LinkIntent, OauthFlows } from '../intents/oauth-flows.js'
import type { IdentityNotice } from './identity-notice.js'
import type { OauthIdentities, ProviderAccount } from './oauth-identities.js'

/** Which of a user's identities is meant: there is at most one of each provider. */
export type LinkedTo = { readonly provider: string } | { readonly identityId: string }

/** Links and unlinks a user's accounts at providers, for the user or an administrator. */
export interface OauthLinks {
  /**
   * Before the flow to the provider: throws what re-authentication throws, `email_not_verified`, and
   * `identity_already_linked` for a user who already has an account of this provider linked.
   */
  prepare(
    who: SignedIn,
    provider: string,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<void>
  /**
   * After it. Throws `identity_already_linked`, and `oauth_failed` when the session, the factors or the
   * password that allowed it are no more.
   */
  complete(intent: LinkIntent, profile: ProviderProfile, source: RequestSource): Promise<void>
  /**
   * Links the account that this session's sign-in was offered. Throws `link_not_offered`,
   * `oauth_provider_disabled`, and what `prepare` throws; before the account may be linked, the offer
   * stays.
   */
  confirm(
    who: SignedIn,
    provider: string,
    given: { readonly currentPassword: string | undefined; readonly shown: ShownLinkKey },
    source: RequestSource,
  ): Promise<void>
  /** At a sign-out: nothing is offered to this browser any more. */
  forgetOffer(shown: ShownLinkKey): Promise<void>
  /** Throws `not_found`, `last_login_method`, and what re-authentication throws. */
  unlink(
    who: SignedIn,
    provider: string,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<void>
  /** By an administrator. Throws `not_found` and `last_login_method`. */
  unlinkOf(actorId: string, user: User, which: LinkedTo, source: RequestSource): Promise<void>
  /** Throws `user_not_found`, also for a service account. */
  person(userId: string): Promise<User>
}

interface Unlinking {
  readonly actorId: string
  readonly user: User
  /** Asked before the identity is taken; left out, nothing refuses. */
  readonly refusal?: () => Promise<AuthError | null>
}

type Deps = Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings'>

interface Services {
  readonly flows: Pick<OauthFlows, 'isGood'>
  readonly identities: OauthIdentities
  readonly identityNotice: IdentityNotice
  readonly linkOffers: LinkOffersPart
  readonly reAuthentication: ReAuthentication
}

export function createOauthLinks(
  deps: Deps,
  { flows, identities, identityNotice: notice, linkOffers, reAuthentication }: Services,
): OauthLinks {
  const { users } = deps.collections

  /** Whether the user can link an account at this provider. Takes away what a linking that was cut off has left. */
  async function hasPlace(userId: string, provider: string): Promise<boolean> {
    const all = await identities.allOf(userId)
    return all.every((one) => one.provider !== provider)
  }

  /**
   * Gives the identity to the user if it has no owner; it is still to be settled. An identity whose sign-up was cut
   * short before there was an account has none, nor has one whose linking was. Null when it was this user's already.
   * Throws `identity_already_linked`.
   */
  async function begin(profile: ProviderAccount, userId: string): Promise<OauthIdentity | null> {
    const refuse = (): never => {
      throw new AuthError('identity_already_linked')
    }
    const judge = async (known: OauthIdentity) => {
      const isSettled = !isBeingLinked(known)
      if (isSettled && known.userId === userId) return null
      if (isSettled && (await users.get(known.userId)) !== null) return refuse()
      await identities.takeAbandoned(known)
      return conflict
    }
    const attempt = async () => {
      const begun = await identities.begin(profile, userId)
      if (begun !== null) return begun
      const known = await identities.find(profile)
      if (known !== null) return judge(known)
      return (await hasPlace(userId, profile.provider)) ? conflict : refuse()
    }
    return retryOnConflict(2, attempt, refuse)
  }

  async function person(userId: string): Promise<User> {
    const user = isUuid(userId) ? await users.get(userId) : null
    if (user === null || !isHuman(user)) throw new AuthError('user_not_found')
    return user
  }

  async function remove(
    { actorId, user, refusal = async () => null }: Unlinking,
    which: LinkedTo,
    source: RequestSource,
  ): Promise<void> {
    const removed = await identities.remove(
      user.id,
      (one) =>
        'provider' in which ? one.provider === which.provider : one.id === which.identityId,
      async (others) => {
        const isLast = !(await hasWayIn(deps, user.id, others))
        return isLast ? new AuthError('last_login_method') : refusal()
      },
    )
    // One that was still being linked has opened nothing, and its owner got no mail of it.
    if (!isBeingLinked(removed)) {
      const { provider } = removed
      notice({ actorId, user, provider, change: 'unlinked' }, source)
    }
  }

  async function prepare(
    who: SignedIn,
    provider: string,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<void> {
    await reAuthentication.require(who, currentPassword, source)
    requireProvedMailbox(who.user)
    if (!(await hasPlace(who.user.id, provider))) throw new AuthError('identity_already_linked')
  }

  /**
   * A call that voids it moves the account first and looks then, so one of the two sees the other. An interruption
   * before the first look leaves an identity that opens nothing; the second one sees what came before the identity did.
   */
  async function link(
    user: User,
    account: ProviderAccount,
    terms: { readonly isGood: () => Promise<boolean>; readonly refusal: ErrorCode },
    source: RequestSource,
  ): Promise<void> {
    const begun = await begin(account, user.id)
    let stands = false
    try {
      const mayStand = await terms.isGood()
      const isSettled = mayStand && (begun === null || (await identities.settle(begun)))
      stands = isSettled && (await terms.isGood())
    } finally {
      if (!stands && begun !== null) await identities.takeBack(begun)
    }
    if (!stands) throw new AuthError(terms.refusal)
    const { provider } = account
    notice({ actorId: user.id, user, provider, change: 'linked' }, source)
  }

  return {
    prepare,

    async complete(intent, profile, source) {
      const refusal = 'oauth_failed'
      if (intent.user.emailVerifiedAt === null) throw new AuthError(refusal)
      const terms = { isGood: () => flows.isGood(intent), refusal } as const
      await link(intent.user, profile, terms, source)
    },

    async confirm(who, provider, { currentPassword, shown }, source) {
      const refusal = 'link_not_offered'
      if (linkOffers === null) throw new AuthError(refusal)
      const offers = await linkOffers()
      const opened = await offers.open(who, provider, shown)
      await prepare(who, provider, currentPassword, source)
      const intent = await offers.spend(opened)
      const terms = { isGood: () => offers.isGood(intent), refusal } as const
      await link(intent.user, intent.payload, terms, source)
    },

    async forgetOffer(shown) {
      if (linkOffers !== null) await (await linkOffers()).forget(shown)
    },

    async unlink(who, provider, currentPassword, source) {
      const refusalSince = await reAuthentication.require(who, currentPassword, source)
      const { user } = who
      const refusal = async () => refusalSince(await users.get(user.id))
      await remove({ actorId: user.id, user, refusal }, { provider }, source)
    },

    unlinkOf: (actorId, user, which, source) => remove({ actorId, user }, which, source),

    person,
  }
}
