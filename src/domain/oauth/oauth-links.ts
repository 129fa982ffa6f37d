import { isUuid } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import { isBeingLinked, isHuman, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Actor, actBy } from '../context/actor.js'
import type { SignedIn } from '../context/principal.js'
import { requireProvedMailbox } from '../factors/factor-changes.js'
import { requireReAuthentication } from '../factors/step-up.js'
import { isGoodOauthFlow, type LinkIntent } from '../intents/oauth-flows.js'
import { hasWayIn } from '../surface/has-way-in.js'
import type { SurfaceContext } from '../surface/surface-context.js'
import {
  allIdentitiesOf,
  beginIdentity,
  findIdentity,
  identitiesOf,
  type ProviderAccount,
  removeIdentity,
  settleIdentity,
  takeAbandonedIdentity,
  takeBackIdentity,
  tellOfIdentity,
} from './oauth-identities.js'

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
    async (others) => {
      const isLast = !(await hasWayIn(ctx, user.id, others))
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
