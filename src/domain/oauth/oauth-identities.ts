import { randomToken, sha256 } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import { isBeingLinked, linkMarkOf, type OauthIdentity } from '../../model/user.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'

/** What names an account at a provider. */
export type ProviderAccount = Pick<OauthIdentity, 'provider' | 'issuer' | 'subject'>

/** Says whom an account at a provider belongs to. Never by an address. */
export interface OauthIdentities {
  find(account: ProviderAccount): Promise<OauthIdentity | null>
  /** Those that open the account, at most one of each provider. */
  ofUser(userId: string): Promise<readonly OauthIdentity[]>
  /** With those that are being linked. Takes away what was left where a linking was cut off. */
  allOf(userId: string): Promise<readonly OauthIdentity[]>
  /** Null when the account, or the user's place for this provider, is taken. */
  add(account: ProviderAccount, userId: string): Promise<OauthIdentity | null>
  /** As `add`, but the identity opens nothing before it is settled. */
  begin(account: ProviderAccount, userId: string): Promise<OauthIdentity | null>
  /** From now on it opens the account. False where it was removed meanwhile. Repeatable. */
  settle(begun: OauthIdentity): Promise<boolean>
  /** Takes back what was added, for a user who then could not be made, and for a link that may not be made. */
  takeBack(identity: OauthIdentity): Promise<void>
  /**
   * Before an account is made for an identity that was left without one: for now it is not abandoned.
   * Null when a parallel call changed it first.
   */
  renew(identity: OauthIdentity): Promise<OauthIdentity | null>
  /**
   * Takes one without a user, or one that is not settled, unless a sign-up or a linking may be under way for it. True
   * for the caller that took it.
   */
  takeAbandoned(identity: OauthIdentity): Promise<boolean>
  /**
   * Removes the one that is meant, and resolves with it. Throws what `refusalOf` gives, which is asked with the user's
   * other identities that stay, and `not_found` when there is none (any more). If two are removed at once, at least one
   * is asked about while the other is no longer among those that stay.
   */
  remove(
    userId: string,
    isMeant: (identity: OauthIdentity) => boolean,
    refusalOf: RefusalBeside,
  ): Promise<OauthIdentity>
}

type RefusalBeside = (others: readonly OauthIdentity[]) => Promise<AuthError | null>

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random'>

/** Another one removing the same identity may come between; each try sees the newest mark. */
const tries = 8

/** Longer than a sign-up takes from its identity to its user, and a linking to settle it. */
const abandonedMs = 60 * 1000

export function createOauthIdentities(deps: Deps): OauthIdentities {
  const { clock, random } = deps
  const { oauthIdentities } = deps.collections

  const stored = (userId: string) => oauthIdentities.find({ userId }, { limit: 100 })

  /**
   * Marks it first, then looks around: if two calls remove different ones, each sees the other's mark. Takes it
   * with its own mark only. False when another mark came between. One that is being linked opens nothing: it goes
   * without a question, and must not come out of a refusal settled.
   */
  async function tryToRemove(identity: OauthIdentity, refusalOf: RefusalBeside): Promise<boolean> {
    const { id, userId, removingBy: seen } = identity
    if (isBeingLinked(identity))
      return (await oauthIdentities.take(id, { removingBy: seen })) !== null
    const removingBy = randomToken(random, 16)
    const marked = await oauthIdentities.update(id, { userId, removingBy: seen }, { removingBy })
    if (marked === null) return false
    const others = (await stored(userId)).filter((one) => one.id !== id && one.removingBy === null)
    const refusal = await refusalOf(others)
    if (refusal !== null) {
      await oauthIdentities.update(id, { removingBy }, { removingBy: null })
      throw refusal
    }
    return (await oauthIdentities.take(id, { removingBy })) !== null
  }

  const find = (profile: ProviderAccount) => oauthIdentities.get(identityId(profile))

  async function insert(
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
      linkedAt: clock.now(),
      removingBy,
      expiresAt: null,
    }
    return (await oauthIdentities.insert(identity)) ? identity : null
  }

  async function takeAbandoned(identity: OauthIdentity): Promise<boolean> {
    const { id, userId, linkedAt, removingBy } = identity
    if (clock.now() - linkedAt < abandonedMs) return false
    // It may have been settled since it was read: the clocks of two processes differ.
    return (await oauthIdentities.take(id, { userId, linkedAt, removingBy })) !== null
  }

  return {
    find,
    ofUser: async (userId) => (await stored(userId)).filter((one) => !isBeingLinked(one)),

    async allOf(userId) {
      const all: OauthIdentity[] = []
      for (const identity of await stored(userId)) {
        const isGone = isBeingLinked(identity) && (await takeAbandoned(identity))
        if (!isGone) all.push(identity)
      }
      return all
    },

    add: (profile, userId) => insert(profile, userId, null),

    async begin(profile, userId) {
      const mark = linkMarkOf(randomToken(random, 16))
      const begun = await insert(profile, userId, mark)
      if (begun !== null) return begun
      // A driver may have sent the insert twice.
      const known = await find(profile)
      return known?.removingBy === mark ? known : null
    },

    async settle({ id, userId, linkedAt, removingBy }) {
      if ((await oauthIdentities.update(id, { removingBy }, { removingBy: null })) !== null)
        return true
      // A driver may have sent the write twice.
      const now = await oauthIdentities.get(id)
      return now?.userId === userId && now.linkedAt === linkedAt && now.removingBy === null
    },

    async takeBack({ id, userId, linkedAt }) {
      await oauthIdentities.take(id, { userId, linkedAt })
    },

    async renew(identity) {
      const { id, userId, linkedAt: seen } = identity
      const linkedAt = clock.now()
      if (linkedAt - seen < abandonedMs / 2) return identity
      return oauthIdentities.update(id, { userId, linkedAt: seen }, { linkedAt })
    },

    takeAbandoned,

    remove: (userId, isMeant, refusalOf) =>
      retryOnConflict(tries, async () => {
        const identity = (await stored(userId)).find(isMeant)
        if (identity === undefined) throw new AuthError('not_found')
        return (await tryToRemove(identity, refusalOf)) ? identity : conflict
      }),
  }
}

/** One text for one account: the parts cannot run into each other. */
function identityId({ provider, issuer, subject }: ProviderAccount): string {
  return sha256(JSON.stringify([provider, issuer, subject]))
}
