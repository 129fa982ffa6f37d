import { randomToken, sha256 } from '../../crypto/secrets.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { rulesOf } from '../../engine/intents.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import type { LinkOffer } from '../../model/intents.js'
import { isBeingLinked, isHuman, type User } from '../../model/user.js'
import type { SignedIn } from '../context/principal.js'
import { isTenantAdmitted } from '../context/provider-credentials.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  judgeIntentAgain,
  type OpenedIntent,
  openIntent,
  type SpentIntent,
  spendIntent,
} from './intent-judge.js'

// Sign-ins by a provider that bounced, each offered to the user whose address it was.
// An offer grants nothing: it saves its user the way through the provider. What keeps a stranger's
// account from being linked is, in this order: the provider is authoritative for the address; the offer
// belongs to the one user who has that address; it is found by a secret of the browser or app in which
// the provider answered; that user signs in there, with all factors, and the offer then belongs to that
// one session; the user asks for the link, with the proof that linking asks for; and all of it is judged
// again, before the link and after it.

/**
 * What a request brings of a sign-in that bounced; null without. A browser has a cookie, an app the
 * verifier of its flow. As with recognition ids, each counts where the tokens of the login go.
 */
export interface ShownLinkKey {
  readonly cookie: string | null
  readonly body: string | null
}

/** What a browser is to keep of a sign-in that bounced, for so many whole seconds. */
export interface LinkKeyGrant {
  readonly linkKey: string
  readonly expiresIn: number
}

/** What a complete sign-in is offered: to link the account at this provider, for so many whole seconds. */
export interface OfferedLink {
  readonly provider: string
  readonly expiresIn: number
}

/** Where the provider answered: a browser, or the app whose S256 challenge this is. */
export type OfferHolder = 'browser' | { readonly codeChallenge: string }

/** As long as a flow to a provider. */
const lifeMs = 10 * 60 * 1000

const refusal: AuthError['code'] = rulesOf('linkOffer').refusal

/** The user who could link it; null where there is none. */
async function linkerOf(
  ctx: SurfaceContext,
  provider: string,
  email: string | null,
): Promise<User | null> {
  const [user] = email === null ? [] : await ctx.collections.users.find({ email }, { limit: 1 })
  if (user === undefined || !user.enabled || !isHuman(user)) return null
  if (user.emailVerifiedAt === null) return null
  const linked = await ctx.collections.oauthIdentities.find(
    { userId: user.id, provider },
    { limit: 1 },
  )
  return linked.every(isBeingLinked) ? user : null
}

async function openOffer(
  ctx: SurfaceContext,
  offer: LinkOffer,
): Promise<OpenedIntent<'linkOffer'>> {
  const { id, provider, userId, sessionId, email, expiresAt } = offer
  const { credentialEpoch, deviceEpoch } = offer
  const facts = {
    id,
    provider,
    userId,
    sessionId,
    email,
    credentialEpoch,
    deviceEpoch,
    expiresAt,
  }
  const opened = await openIntent(ctx, 'linkOffer', facts, offer)
  const isAdmitted = isTenantAdmitted(offer, await ctx.settings())
  if (opened.user.emailVerifiedAt === null || !isAdmitted) throw new AuthError(refusal)
  return opened
}

/** Null for a refusal; anything else is an outage. */
async function openedOrNull(
  ctx: SurfaceContext,
  offer: LinkOffer,
): Promise<OpenedIntent<'linkOffer'> | null> {
  try {
    return await openOffer(ctx, offer)
  } catch (error) {
    const { expired, switchedOff } = rulesOf('linkOffer')
    const refusals: readonly string[] = [refusal, expired, switchedOff]
    if (error instanceof AuthError && refusals.includes(error.code)) return null
    throw error
  }
}

/**
 * Notes a sign-in that bounced, where the provider is authoritative for the address and its user
 * could link. Resolves with what the browser is to keep, also where nothing was noted: whether an
 * account is in order is not told. Null for an app, which has its verifier.
 */
export async function noteLinkOffer(
  ctx: SurfaceContext,
  profile: ProviderProfile,
  holder: OfferHolder,
): Promise<LinkKeyGrant | null> {
  const { provider, issuer, subject, emailAuthoritative } = profile
  const email = emailAuthoritative ? canonicalEmail(profile.email ?? '') : null
  if (email === null) return null
  const linkKey = randomToken(ctx.random)
  const user = await linkerOf(ctx, provider, email)
  if (user !== null) {
    const id = holder === 'browser' ? idOfBrowser(linkKey) : idOfApp(holder.codeChallenge)
    const account = { userId: user.id, provider, issuer, subject, email }
    const unclaimed = { sessionId: '', credentialEpoch: 0, deviceEpoch: 0 }
    const expiresAt = ctx.clock.now() + lifeMs
    // False for an app that uses a verifier twice: its first offer stays.
    await ctx.collections.linkOffers.insert({ id, ...account, ...unclaimed, expiresAt })
  }
  return holder === 'browser' ? { linkKey, expiresIn: lifeMs / 1000 } : null
}

/**
 * At a complete sign-in. Binds the offer to the session, and resolves with null where there is none to
 * make. A sign-in of another user takes the offer away.
 */
export async function claimLinkOffer(
  ctx: SurfaceContext,
  { user, sessionId }: { readonly user: User; readonly sessionId: string },
  shown: ShownLinkKey,
  delivery: keyof ShownLinkKey,
): Promise<OfferedLink | null> {
  const id = idOf({ cookie: null, body: null, [delivery]: shown[delivery] })
  const seen = id === null ? null : await ctx.collections.linkOffers.get(id)
  if (seen === null) return null
  if (seen.userId !== user.id) {
    await ctx.collections.linkOffers.take(seen.id)
    return null
  }
  const { credentialEpoch, deviceEpoch } = user
  const bound = { sessionId, credentialEpoch, deviceEpoch }
  const offer = await ctx.collections.linkOffers.update(
    seen.id,
    { sessionId: seen.sessionId },
    bound,
  )
  if (offer === null || (await openedOrNull(ctx, offer)) === null) return null
  const expiresIn = Math.floor((offer.expiresAt - ctx.clock.now()) / 1000)
  return { provider: offer.provider, expiresIn }
}

/** At a sign-out in the browser that has the key. */
export async function forgetLinkOffer(ctx: SurfaceContext, shown: ShownLinkKey): Promise<void> {
  const id = idOf(shown)
  if (id !== null) await ctx.collections.linkOffers.take(id)
}

/** Throws `link_not_offered` for whatever is wrong, and `oauth_provider_disabled`. */
export async function openLinkOffer(
  ctx: SurfaceContext,
  { user, sessionId }: SignedIn,
  provider: string,
  shown: ShownLinkKey,
): Promise<OpenedIntent<'linkOffer'>> {
  const id = idOf(shown)
  const offer = id === null ? null : await ctx.collections.linkOffers.get(id)
  const isOwn = offer?.userId === user.id && offer.sessionId === sessionId
  if (offer === null || !isOwn || offer.provider !== provider) throw new AuthError(refusal)
  return openOffer(ctx, offer)
}

/** Judges it again and takes it: if two requests come at once, one goes on. Throws as `openLinkOffer` does. */
export async function spendLinkOffer(
  ctx: SurfaceContext,
  opened: OpenedIntent<'linkOffer'>,
): Promise<SpentIntent<'linkOffer'>> {
  const spent = spendIntent(await judgeIntentAgain(ctx, opened))
  const { id, sessionId } = spent.payload
  // Taken before the link is made: a crash in between costs a new start, and links nothing.
  if ((await ctx.collections.linkOffers.take(id, { sessionId })) === null)
    throw new AuthError(refusal)
  return spent
}

/** Whether the link may stand. What voids an offer moves the account first and looks then. */
export async function isGoodLinkOffer(
  ctx: SurfaceContext,
  { payload }: SpentIntent<'linkOffer'>,
): Promise<boolean> {
  return (await openedOrNull(ctx, payload)) !== null
}

/** Apart from each other: no script of a page has the cookie's value put into a body. */
function idOf({ cookie, body }: ShownLinkKey): string | null {
  if (body !== null) return idOfApp(sha256(body))
  return cookie === null ? null : idOfBrowser(cookie)
}

function idOfBrowser(linkKey: string): string {
  return sha256(`browser ${linkKey}`)
}

function idOfApp(codeChallenge: string): string {
  return sha256(`app ${codeChallenge}`)
}
