import { uuidv7 } from '../../crypto/secrets.js'
import {
  entryRefusal,
  entryRules,
  isLinkRequired,
  isVouchedFor,
  providerProof,
} from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import { isBeingLinked, newUser, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SignInIntent } from '../intents/oauth-flows.js'
import { forgetName, nameToldOnce, type Registered } from '../intents/pending-registrations.js'
import { registrationLifetime } from '../mail/registration-mails.js'
import { proveOwner } from '../passwords/password-writer.js'
import { endAllSessions } from '../sessions/session-endings.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { askBeforeRegister, takeBackUsed } from '../surface/ways-in.js'
import {
  addIdentity,
  allIdentitiesOf,
  findIdentity,
  renewIdentity,
  takeAbandonedIdentity,
  takeBackIdentity,
  tellOfIdentity,
} from './oauth-links.js'

// Whose account a provider's answer opens.

export interface Found {
  readonly user: User
  readonly identityId: string
}

/** A sign-up that is to wait for a mailed link. */
export interface SignUpByLink {
  readonly registered: Registered
}

/** Two callbacks of one person may come at once; the second finds what the first made. */
const tries = 4

/** A deletion leaves its note for longer than a request takes. */
async function wasDeleted(ctx: SurfaceContext, userId: string): Promise<boolean> {
  return (await ctx.collections.accountDeletions.get(userId)) !== null
}

async function isTaken(ctx: SurfaceContext, email: string): Promise<boolean> {
  return (await ctx.collections.users.find({ email }, { limit: 1 })).length > 0
}

/** The address of an account that may be made; whether it is free, the insert or the mailed link decides. */
async function admit(ctx: SurfaceContext, profile: ProviderProfile, acceptedTerms: string | null) {
  const settings = await ctx.settings()
  // A provider may have mapped another script by rules of its own before it proved the mailbox.
  const email = profile.emailVerified ? canonicalEmail(profile.email ?? '') : null
  const rules = entryRules(ctx.surface, settings)
  const refusal = entryRefusal('providerSignUp', rules, {
    applicant: { email, acceptedTerms: acceptedTerms ?? '' },
  })
  const needsLink = isLinkRequired(rules, isVouchedFor(profile))
  if (refusal !== null) {
    // Only the address's owner learns this, whom the provider confirms: it helps them to sign in.
    if (email !== null && !needsLink && (await isTaken(ctx, email))) {
      throw new AuthError('account_exists_link_required')
    }
    throw new AuthError(refusal)
  }
  // An unconfirmed address was refused above.
  return { email: email ?? '', needsLink }
}

async function insert(
  ctx: SurfaceContext,
  id: string,
  email: string,
  { profile, intent }: ArrivedProfile,
): Promise<User | null> {
  const { termsVersion } = intent.stored.payload
  const now = ctx.clock.now()
  const user = newUser(now, {
    id,
    email,
    emailAsTyped: (profile.email ?? email).trim(),
    emailVerifiedAt: now,
    name: profile.name,
    selfRegistered: true,
    termsVersion: termsVersion || null,
  })
  return (await ctx.collections.users.insert(user)) ? user : null
}

/** The user's own, or one that was left without a user; null when another attempt came between. */
function claim(ctx: SurfaceContext, known: OauthIdentity | null, profile: ProviderProfile) {
  return known === null
    ? addIdentity(ctx, profile, uuidv7(ctx.clock.now(), ctx.random))
    : renewIdentity(ctx, known)
}

/**
 * A conflict when another request came between. The identity comes first and names the account to
 * be: a crash in between leaves an address free, and the next sign-in goes on from there.
 */
async function attempt(
  ctx: SurfaceContext,
  arrived: ArrivedProfile,
  source: RequestSource,
): Promise<Found | SignUpByLink | typeof conflict> {
  const { profile } = arrived
  const known = await findIdentity(ctx, profile)
  if (known !== null && isBeingLinked(known)) {
    // One whose linking was cut off is as good as none.
    if (!(await takeAbandonedIdentity(ctx, known))) throw new AuthError('oauth_failed')
    return conflict
  }
  const owner = known === null ? null : await ctx.collections.users.get(known.userId)
  if (known !== null && owner !== null) return { user: owner, identityId: known.id }
  if (known !== null && (await wasDeleted(ctx, known.userId))) {
    // The person who signs in now gets a new account: ids are never used again.
    await takeBackIdentity(ctx, known)
    return conflict
  }

  if (ctx.providers.find(profile.provider)?.tellsNameOnce !== true)
    return enter(ctx, known, arrived, source)
  const name = await nameToldOnce(ctx, profile, await registrationLifetime(ctx))
  const found = await enter(ctx, known, { ...arrived, profile: { ...profile, name } }, source)
  if (found !== conflict && 'user' in found) await forgetName(ctx, profile)
  return found
}

async function enter(
  ctx: SurfaceContext,
  known: OauthIdentity | null,
  arrived: ArrivedProfile,
  source: RequestSource,
): Promise<Found | SignUpByLink | typeof conflict> {
  const opened = await openToProvider(ctx, arrived, known, source)
  return opened ?? signUp(ctx, known, arrived, source)
}

async function signUp(
  ctx: SurfaceContext,
  known: OauthIdentity | null,
  arrived: ArrivedProfile,
  source: RequestSource,
): Promise<Found | SignUpByLink | typeof conflict> {
  const { profile, intent } = arrived
  const { termsVersion } = intent.stored.payload
  const { email, needsLink } = await admit(ctx, profile, termsVersion)
  // The owner of an account learns how to sign in to it, whatever the host thinks of newcomers.
  const isNew = ctx.beforeRegister === null || needsLink || !(await isTaken(ctx, email))
  if (isNew) await askBeforeRegister(ctx, email, profile.provider)
  if (needsLink) {
    // A confirmation that was cut off before its account left an identity, which names the account to be.
    const id = known === null ? {} : { id: known.userId }
    return { registered: { ...registeredBy(profile, email, termsVersion), ...id } }
  }
  const identity = await claim(ctx, known, profile)
  if (identity === null) return conflict
  const made = await insert(ctx, identity.userId, email, arrived)
  // Another callback with this identity may have made the account, and its owner deleted it, since it was looked for.
  if (made !== null && (await takeBackUsed(ctx.collections, made.id))) return conflict
  if (made !== null) {
    ctx.emit('account.registered', source, { userId: made.id })
    return { user: made, identityId: identity.id }
  }
  const others = await ctx.collections.users.get(identity.userId)
  if (others !== null) return { user: others, identityId: identity.id }
  await takeBackIdentity(ctx, identity)
  throw new AuthError('account_exists_link_required')
}

function registeredBy(
  { provider, issuer, subject, name, email: typed }: ProviderProfile,
  email: string,
  termsVersion: string | null,
): Registered {
  const account = { method: 'provider', provider, issuer, subject }
  const emailAsTyped = (typed ?? email).trim()
  return {
    ...account,
    email,
    emailAsTyped,
    passwordHash: '',
    name,
    termsVersion: termsVersion || null,
  }
}

/**
 * The user this account at the provider belongs to, made now if it has no owner yet and the
 * settings let it register; nothing is made of one that is to wait for a mailed link. An account with the same address is opened by that only where
 * `openToProvider` says so.
 * Throws `account_exists_link_required`, `registration_disabled`, `oauth_email_unverified`,
 * `email_not_allowed`, `email_domain_not_allowed` and `terms_not_accepted`.
 */
export function accountOfProvider(
  ctx: SurfaceContext,
  arrived: ArrivedProfile,
  source: RequestSource,
): Promise<Found | SignUpByLink> {
  return retryOnConflict(tries, () => attempt(ctx, arrived, source))
}

// Gives an existing account to the owner of its address, where a stranger may have registered it and the provider
// vouches for the address. Without this, a stranger's registration would keep the owner out for good on a surface
// without passwords.

/** What a provider said of a user, and the flow in which it did. */
export interface ArrivedProfile {
  readonly profile: ProviderProfile
  readonly intent: SignInIntent
}

/** An account that a provider opens, and the identity by which it does. */
export interface OpenedByProvider {
  readonly user: User
  readonly identityId: string
}

/** The account that has the address, where the provider vouches for it. */
async function holderOf(ctx: SurfaceContext, profile: ProviderProfile) {
  const email = isVouchedFor(profile) ? canonicalEmail(profile.email ?? '') : null
  const [user] = email === null ? [] : await ctx.collections.users.find({ email }, { limit: 1 })
  return user ?? null
}

async function judge(ctx: SurfaceContext, user: User): Promise<ReturnType<typeof providerProof>> {
  const [bindings, linked, enrolled] = await Promise.all([
    ctx.collections.roleBindings.find({ userId: user.id }, { limit: 1 }),
    allIdentitiesOf(ctx, user.id),
    enrolledFactors(ctx.collections, user.id),
  ])
  const factors = enrolled.passkeys + (enrolled.totp ? 1 : 0)
  return providerProof(user, { bindings: bindings.length, identities: linked.length, factors })
}

/**
 * The identity also where a driver sent the insert twice or its answer was lost: then the owner gets the mail about it.
 * Two sign-ins at once may both send one.
 */
async function add(
  ctx: SurfaceContext,
  profile: ProviderProfile,
  userId: string,
): Promise<OauthIdentity | null> {
  const stored = async () => {
    const known = await findIdentity(ctx, profile)
    return known?.userId === userId && !isBeingLinked(known) ? known : null
  }
  try {
    return (await addIdentity(ctx, profile, userId)) ?? (await stored())
  } catch (error) {
    const known = await stored().catch(() => null)
    if (known !== null) return known
    throw error
  }
}

/**
 * Null where the account stays as it is, or there is none. In this order: the mailbox is proved and
 * the password cleared by one write, sessions are ended, and the identity is stored. An interruption
 * leaves an account that nothing can sign in to, and the next sign-in goes on from there. `orphan`
 * is the identity that an earlier sign-up left without an account; it gives way.
 */
async function openToProvider(
  ctx: SurfaceContext,
  { profile, intent }: ArrivedProfile,
  orphan: OauthIdentity | null,
  source: RequestSource,
): Promise<OpenedByProvider | typeof conflict | null> {
  const user = await holderOf(ctx, profile)
  if (user === null) return null
  const verdict = await judge(ctx, user)
  if (verdict === 'refuse') return null
  const owner = { name: profile.name, termsVersion: intent.stored.payload.termsVersion }
  const proof = { by: intent, newPassword: null, owner, source }
  const proved = verdict === 'join' ? user : await proveOwner(ctx, user, proof)
  if (proved === null) return conflict
  await endAllSessions(ctx, proved.id, 'password_change', source)
  if (orphan !== null) await takeBackIdentity(ctx, orphan)
  const identity = await add(ctx, profile, proved.id)
  if (identity === null) return conflict
  const { provider } = profile
  tellOfIdentity(ctx, { actorId: proved.id, user: proved, provider, change: 'linked' }, source)
  return { user: proved, identityId: identity.id }
}
