import { randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import { isBeingLinked, linkMarkOf, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { mailIdentityChanged } from '../mail/mail-service.js'
import type { SurfaceContext } from '../surface/surface-context.js'

// Says whom an account at a provider belongs to. Never by an address.

/** What names an account at a provider. */
export type ProviderAccount = Pick<OauthIdentity, 'provider' | 'issuer' | 'subject'>

type RefusalBeside = (others: readonly OauthIdentity[]) => Promise<AuthError | null>

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
  const refusal = await refusalOf(others)
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
 * other identities that stay, and `not_found` when there is none (any more). If two are removed at once, at least one
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
