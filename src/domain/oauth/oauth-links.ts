import { isUuid, randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import {
  isBeingLinked,
  isHuman,
  linkMarkOf,
  type OauthIdentity,
  type User,
} from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Actor, actBy, type SignedIn } from '../context/actor.js'
import { requireProvedMailbox } from '../factors/factor-changes.js'
import { requireReAuthentication } from '../factors/step-up.js'
import { isGoodOauthFlow, type LinkIntent } from '../intents/oauth-flows.js'
import { mailIdentityChanged } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import { hasWayIn } from '../surface/ways-in.js'

// Links and unlinks a user's accounts at providers, for the user or an administrator.

/** Which of a user's identities is meant: there is at most one of each provider. */
export type LinkedTo = { readonly provider: string } | { readonly identityId: string }

interface Unlinking {
  readonly actorId: string
  readonly user: User
  /** Asked before the identity is taken; left out, nothing refuses. */
  readonly refusal?: () => Promise<AuthError | null>
}

/** Whether the user can link an account at this provider. Takes away what a linking that was cut off has left. */
async function hasPlace(ctx: SurfaceContext, userId: string, provider: string): Promise<boolean> {
  const all = await allIdentitiesOf(ctx, userId)
  return all.every((one) => one.provider !== provider)
}

/**
 * Gives the identity to the user if it has no owner; it is still to be settled. An identity whose sign-up was cut
 * short before there was an account has none, nor has one whose linking was. Null when it was this user's already.
 * Throws `identity_already_linked`.
 */
async function begin(
  ctx: SurfaceContext,
  profile: ProviderAccount,
  userId: string,
): Promise<OauthIdentity | null> {
  const refuse = (): never => {
    throw new AuthError('identity_already_linked')
  }
  const judge = async (known: OauthIdentity) => {
    const isSettled = !isBeingLinked(known)
    if (isSettled && known.userId === userId) return null
    if (isSettled && (await ctx.collections.users.get(known.userId)) !== null) return refuse()
    await takeAbandonedIdentity(ctx, known)
    return conflict
  }
  const attempt = async () => {
    const begun = await beginIdentity(ctx, profile, userId)
    if (begun !== null) return begun
    const known = await findIdentity(ctx, profile)
    if (known !== null) return judge(known)
    return (await hasPlace(ctx, userId, profile.provider)) ? conflict : refuse()
  }
  return retryOnConflict(2, attempt, refuse)
}

/** Throws `user_not_found`, also for a service account. */
export async function requirePerson(ctx: SurfaceContext, userId: string): Promise<User> {
  const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
  if (user === null || !isHuman(user)) throw new AuthError('user_not_found')
  return user
}

async function remove(
  ctx: SurfaceContext,
  { actorId, user, refusal = async () => null }: Unlinking,
  which: LinkedTo,
  source: RequestSource,
): Promise<void> {
  const removed = await removeIdentity(
    ctx,
    user.id,
    (one) => ('provider' in which ? one.provider === which.provider : one.id === which.identityId),
    async (others, { provider, issuer }) => {
      // One of an issuer that the host no longer declares opens nothing, so nothing is lost with it.
      const declared = ctx.providers.declared(provider)
      const isDead = declared !== null && declared.issuer !== issuer
      const isLast = !isDead && !(await hasWayIn(ctx, user.id, others))
      return isLast ? new AuthError('last_login_method') : refusal()
    },
  )
  // One that was still being linked has opened nothing, and its owner got no mail of it.
  if (!isBeingLinked(removed)) {
    const { provider } = removed
    tellOfIdentity(ctx, { actorId, user, provider, change: 'unlinked' }, source)
  }
}

/**
 * Before the flow to the provider: throws what re-authentication throws, `email_not_verified`, and
 * `identity_already_linked` for a user who already has an account of this provider linked.
 */
export async function prepareLink(
  ctx: SurfaceContext,
  who: SignedIn,
  provider: string,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<void> {
  await requireReAuthentication(ctx, who, currentPassword, source)
  requireProvedMailbox(who.user)
  if (!(await hasPlace(ctx, who.user.id, provider))) throw new AuthError('identity_already_linked')
}

/**
 * After it. Throws `identity_already_linked`, and `oauth_failed` when the session, the factors or the
 * password that allowed it are no more. A call that voids them moves the account first and looks then, so one of the
 * two sees the other. An interruption before the first look leaves an identity that opens nothing; the second one sees
 * what came before the identity did.
 */
export async function completeLink(
  ctx: SurfaceContext,
  intent: LinkIntent,
  profile: ProviderProfile,
  source: RequestSource,
): Promise<void> {
  const { user } = intent
  if (user.emailVerifiedAt === null) throw new AuthError('oauth_failed')
  const begun = await begin(ctx, profile, user.id)
  let stands = false
  try {
    const mayStand = await isGoodOauthFlow(ctx, intent)
    const isSettled = mayStand && (begun === null || (await settleIdentity(ctx, begun)))
    stands = isSettled && (await isGoodOauthFlow(ctx, intent))
  } finally {
    if (!stands && begun !== null) await takeBackIdentity(ctx, begun)
  }
  if (!stands) throw new AuthError('oauth_failed')
  const { provider } = profile
  tellOfIdentity(ctx, { actorId: user.id, user, provider, change: 'linked' }, source)
}

/** Throws `not_found`, `last_login_method`, and what re-authentication throws. */
export async function unlinkIdentity(
  ctx: SurfaceContext,
  who: SignedIn,
  provider: string,
  currentPassword: string | undefined,
  source: RequestSource,
): Promise<void> {
  const refusalSince = await requireReAuthentication(ctx, who, currentPassword, source)
  const { user } = who
  const refusal = async () => refusalSince(await ctx.collections.users.get(user.id))
  await remove(ctx, { actorId: user.id, user, refusal }, { provider }, source)
}

/** By an administrator. Throws `not_found` and `last_login_method`. */
export function unlinkIdentityOf(
  ctx: SurfaceContext,
  actorId: string,
  user: User,
  which: LinkedTo,
  source: RequestSource,
): Promise<void> {
  return remove(ctx, { actorId, user }, which, source)
}

/** An account at an identity provider by which a user signs in. */
export interface IdentityRecord {
  readonly id: string
  /** `google`, `microsoft`, `apple` or `github`. */
  readonly provider: string
  readonly issuer: string
  readonly subject: string
  /** Epoch milliseconds. */
  readonly linkedAt: number
}

/**
 * The accounts at identity providers of one surface's users, for the host's code: no permission is
 * checked. Methods throw `AuthError` with the codes named here, `invalid_request` for an id that is no
 * text, and `service_unavailable` when the store fails.
 */
export interface IdentityAdministration {
  /** In no particular order; empty also for an unknown id. At most one of each provider. */
  list(userId: string): Promise<readonly IdentityRecord[]>
  /**
   * Unlinks one, as `DELETE …/users/{userId}/oauth/{provider}` does: the owner gets a mail. `by` names the
   * actor for events and audit records; without an `actorId` that is `host`. Throws `user_not_found`,
   * `not_found` where the user has no such identity (any more), and `last_login_method`: if two are
   * removed at once, one stays where nothing else would.
   */
  remove(userId: string, identityId: string, by?: Actor): Promise<void>
}

export function createIdentityAdministration(ctx: SurfaceContext): IdentityAdministration {
  return {
    async list(userId) {
      return isUuid(textOf('userId', userId)) ? (await identitiesOf(ctx, userId)).map(recordOf) : []
    },

    async remove(userId, identityId, by = {}) {
      const { actorId, source } = actBy(by)
      const which = { identityId: textOf('identityId', identityId) }
      const user = await requirePerson(ctx, textOf('userId', userId))
      await unlinkIdentityOf(ctx, actorId ?? 'host', user, which, source)
    },
  }
}

function recordOf({ id, provider, issuer, subject, linkedAt }: OauthIdentity): IdentityRecord {
  return { id, provider, issuer, subject, linkedAt }
}

/** Some databases take an object for a query. */
function textOf(member: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new AuthError('invalid_request', { detail: `An identity's ${member} must be a text.` })
}

// Says whom an account at a provider belongs to. Never by an address.

/** What names an account at a provider. */
export type ProviderAccount = Pick<OauthIdentity, 'provider' | 'issuer' | 'subject'>

type RefusalBeside = (
  others: readonly OauthIdentity[],
  identity: OauthIdentity,
) => Promise<AuthError | null>

/** Another one removing the same identity may come between; each try sees the newest mark. */
const tries = 8

/** Longer than a sign-up takes from its identity to its user, and a linking to settle it. */
const abandonedMs = 60 * 1000

function stored(ctx: SurfaceContext, userId: string) {
  return ctx.collections.oauthIdentities.find({ userId }, { limit: 100 })
}

/**
 * Marks it first, then looks around: if two calls remove different ones, each sees the other's mark. Takes it
 * with its own mark only. False when another mark came between. One that is being linked opens nothing: it goes
 * without a question, and must not come out of a refusal settled.
 */
async function tryToRemove(
  ctx: SurfaceContext,
  identity: OauthIdentity,
  refusalOf: RefusalBeside,
): Promise<boolean> {
  const { id, userId, removingBy: seen } = identity
  if (isBeingLinked(identity))
    return (await ctx.collections.oauthIdentities.take(id, { removingBy: seen })) !== null
  const removingBy = randomToken(ctx.random, 16)
  const marked = await ctx.collections.oauthIdentities.update(
    id,
    { userId, removingBy: seen },
    { removingBy },
  )
  if (marked === null) return false
  const others = (await stored(ctx, userId)).filter(
    (one) => one.id !== id && one.removingBy === null,
  )
  const refusal = await refusalOf(others, identity)
  if (refusal !== null) {
    await ctx.collections.oauthIdentities.update(id, { removingBy }, { removingBy: null })
    throw refusal
  }
  return (await ctx.collections.oauthIdentities.take(id, { removingBy })) !== null
}

export function findIdentity(
  ctx: SurfaceContext,
  profile: ProviderAccount,
): Promise<OauthIdentity | null> {
  return ctx.collections.oauthIdentities.get(identityId(profile))
}

async function insert(
  ctx: SurfaceContext,
  profile: ProviderAccount,
  userId: string,
  removingBy: string | null,
): Promise<OauthIdentity | null> {
  const { provider, issuer, subject } = profile
  const identity: OauthIdentity = {
    id: identityId(profile),
    userId,
    provider,
    issuer,
    subject,
    linkedAt: ctx.clock.now(),
    removingBy,
    expiresAt: null,
  }
  return (await ctx.collections.oauthIdentities.insert(identity)) ? identity : null
}

/**
 * Takes one without a user, or one that is not settled, unless a sign-up or a linking may be under way for it. True
 * for the caller that took it.
 */
export async function takeAbandonedIdentity(
  ctx: SurfaceContext,
  identity: OauthIdentity,
): Promise<boolean> {
  const { id, userId, linkedAt, removingBy } = identity
  if (ctx.clock.now() - linkedAt < abandonedMs) return false
  // It may have been settled since it was read: the clocks of two processes differ.
  return (await ctx.collections.oauthIdentities.take(id, { userId, linkedAt, removingBy })) !== null
}

/** Those that open the account, at most one of each provider. */
export async function identitiesOf(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly OauthIdentity[]> {
  return (await stored(ctx, userId)).filter((one) => !isBeingLinked(one))
}

/** With those that are being linked. Takes away what was left where a linking was cut off. */
export async function allIdentitiesOf(
  ctx: SurfaceContext,
  userId: string,
): Promise<readonly OauthIdentity[]> {
  const all: OauthIdentity[] = []
  for (const identity of await stored(ctx, userId)) {
    const isGone = isBeingLinked(identity) && (await takeAbandonedIdentity(ctx, identity))
    if (!isGone) all.push(identity)
  }
  return all
}

/** Null when the account, or the user's place for this provider, is taken. */
export function addIdentity(
  ctx: SurfaceContext,
  profile: ProviderAccount,
  userId: string,
): Promise<OauthIdentity | null> {
  return insert(ctx, profile, userId, null)
}

/**
 * For an account that is to be made under this id. Null where the identity is another account's, or may be about to be.
 * Repeatable.
 */
export function holdIdentity(
  ctx: SurfaceContext,
  profile: ProviderAccount,
  userId: string,
): Promise<OauthIdentity | null> {
  const attempt = async () => {
    const known = await findIdentity(ctx, profile)
    if (known === null) return (await addIdentity(ctx, profile, userId)) ?? conflict
    const isSettled = !isBeingLinked(known)
    if (isSettled && known.userId === userId) return (await renewIdentity(ctx, known)) ?? conflict
    if (isSettled && (await ctx.collections.users.get(known.userId)) !== null) return null
    return (await takeAbandonedIdentity(ctx, known)) ? conflict : null
  }
  return retryOnConflict(tries, attempt, () => null)
}

/** As `add`, but the identity opens nothing before it is settled. */
export async function beginIdentity(
  ctx: SurfaceContext,
  profile: ProviderAccount,
  userId: string,
): Promise<OauthIdentity | null> {
  const mark = linkMarkOf(randomToken(ctx.random, 16))
  const begun = await insert(ctx, profile, userId, mark)
  if (begun !== null) return begun
  // A driver may have sent the insert twice.
  const known = await findIdentity(ctx, profile)
  return known?.removingBy === mark ? known : null
}

/** From now on it opens the account. False where it was removed meanwhile. Repeatable. */
export async function settleIdentity(
  ctx: SurfaceContext,
  { id, userId, linkedAt, removingBy }: OauthIdentity,
): Promise<boolean> {
  if (
    (await ctx.collections.oauthIdentities.update(id, { removingBy }, { removingBy: null })) !==
    null
  )
    return true
  // A driver may have sent the write twice.
  const now = await ctx.collections.oauthIdentities.get(id)
  return now?.userId === userId && now.linkedAt === linkedAt && now.removingBy === null
}

/** Takes back what was added, for a user who then could not be made, and for a link that may not be made. */
export async function takeBackIdentity(
  ctx: SurfaceContext,
  { id, userId, linkedAt }: OauthIdentity,
): Promise<void> {
  await ctx.collections.oauthIdentities.take(id, { userId, linkedAt })
}

/**
 * Before an account is made for an identity that was left without one: for now it is not abandoned.
 * Null when a parallel call changed it first.
 */
export async function renewIdentity(
  ctx: SurfaceContext,
  identity: OauthIdentity,
): Promise<OauthIdentity | null> {
  const { id, userId, linkedAt: seen } = identity
  const linkedAt = ctx.clock.now()
  if (linkedAt - seen < abandonedMs / 2) return identity
  return ctx.collections.oauthIdentities.update(id, { userId, linkedAt: seen }, { linkedAt })
}

/**
 * Removes the one that is meant, and resolves with it. Throws what `refusalOf` gives, which is asked with the user's
 * other identities that stay and the one itself, and `not_found` when there is none (any more). If two are removed at once, at least one
 * is asked about while the other is no longer among those that stay.
 */
export function removeIdentity(
  ctx: SurfaceContext,
  userId: string,
  isMeant: (identity: OauthIdentity) => boolean,
  refusalOf: RefusalBeside,
): Promise<OauthIdentity> {
  return retryOnConflict(tries, async () => {
    const identity = (await stored(ctx, userId)).find(isMeant)
    if (identity === undefined) throw new AuthError('not_found')
    return (await tryToRemove(ctx, identity, refusalOf)) ? identity : conflict
  })
}

/** One text for one account: the parts cannot run into each other. */
function identityId({ provider, issuer, subject }: ProviderAccount): string {
  return sha256(JSON.stringify([provider, issuer, subject]))
}

interface IdentityChange {
  readonly actorId: string
  /** The owner, as the account is after the change. */
  readonly user: User
  readonly provider: string
  readonly change: 'linked' | 'unlinked'
}

/** Once an identity is stored or removed: an event, a record, and a mail to the owner. */
export function tellOfIdentity(
  ctx: SurfaceContext,
  { actorId, user, provider, change }: IdentityChange,
  source: RequestSource,
): void {
  const at = ctx.clock.now()
  ctx.emit(`identity.${change}`, source, { at, actorId, targetId: user.id, provider })
  // Beside the request: what was changed must not be answered by a failure to read a setting.
  ctx.background.run('mailing about an identity', async () => {
    const { notifySecurityChanges } = await ctx.settings()
    if (notifySecurityChanges) mailIdentityChanged(ctx, user, { at, provider, change })
  })
}
