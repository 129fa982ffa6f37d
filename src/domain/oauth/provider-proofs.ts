import { providerProof } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import { isBeingLinked, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict } from '../../stores/retry-on-conflict.js'
import { enrolledFactors } from '../context/enrolled-factors.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { SignInIntent } from '../intents/oauth-flows.js'
import type { OwnerProof } from '../passwords/owner-proof.js'
import type { SessionTermination } from '../sessions/session-termination.js'
import type { IdentityNotice } from './identity-notice.js'
import type { OauthIdentities } from './oauth-identities.js'

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

/**
 * Gives an existing account to the owner of its address, where a stranger may have registered it and the provider is
 * authoritative for the address. Without this, a stranger's registration would keep the owner out for good on a surface
 * without passwords.
 */
export interface ProviderProofs {
  /**
   * Null where the account stays as it is, or there is none. In this order: the mailbox is proved and
   * the password cleared by one write, sessions are ended, and the identity is stored. An interruption
   * leaves an account that nothing can sign in to, and the next sign-in goes on from there. `orphan`
   * is the identity that an earlier sign-up left without an account; it gives way.
   */
  open(
    arrived: ArrivedProfile,
    orphan: OauthIdentity | null,
    source: RequestSource,
  ): Promise<OpenedByProvider | typeof conflict | null>
}

type Deps = Pick<SurfaceContext, 'collections'>

interface Services {
  readonly identities: OauthIdentities
  readonly identityNotice: IdentityNotice
  readonly ownerProof: OwnerProof
  readonly sessions: Pick<SessionTermination, 'endAll'>
}

export function createProviderProofs(
  { collections }: Deps,
  { identities, identityNotice, ownerProof, sessions }: Services,
): ProviderProofs {
  const { users, roleBindings } = collections

  /** The account that has the address, where the provider is authoritative for it. */
  async function holderOf({ email: given, emailAuthoritative }: ProviderProfile) {
    const email = emailAuthoritative ? canonicalEmail(given ?? '') : null
    const [user] = email === null ? [] : await users.find({ email }, { limit: 1 })
    return user ?? null
  }

  async function judge(user: User): Promise<ReturnType<typeof providerProof>> {
    const [bindings, linked, enrolled] = await Promise.all([
      roleBindings.find({ userId: user.id }, { limit: 1 }),
      identities.allOf(user.id),
      enrolledFactors(collections, user.id),
    ])
    const factors = enrolled.passkeys + (enrolled.totp ? 1 : 0)
    return providerProof(user, { bindings: bindings.length, identities: linked.length, factors })
  }

  /**
   * The identity also where a driver sent the insert twice or its answer was lost: then the owner gets the mail about it.
   * Two sign-ins at once may both send one.
   */
  async function add(profile: ProviderProfile, userId: string): Promise<OauthIdentity | null> {
    const stored = async () => {
      const known = await identities.find(profile)
      return known?.userId === userId && !isBeingLinked(known) ? known : null
    }
    try {
      return (await identities.add(profile, userId)) ?? (await stored())
    } catch (error) {
      const known = await stored().catch(() => null)
      if (known !== null) return known
      throw error
    }
  }

  return {
    async open({ profile, intent }, orphan, source) {
      const user = await holderOf(profile)
      if (user === null) return null
      const verdict = await judge(user)
      if (verdict === 'refuse') return null
      const owner = { name: profile.name, termsVersion: intent.payload.termsVersion }
      const proof = { by: intent, newPassword: null, owner, source }
      const proved = verdict === 'join' ? user : await ownerProof.prove(user, proof)
      if (proved === null) return conflict
      await sessions.endAll(proved.id, 'password_change', source)
      if (orphan !== null) await identities.takeBack(orphan)
      const identity = await add(profile, proved.id)
      if (identity === null) return conflict
      const { provider } = profile
      identityNotice({ actorId: proved.id, user: proved, provider, change: 'linked' }, source)
      return { user: proved, identityId: identity.id }
    },
  }
}
