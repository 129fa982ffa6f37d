import { uuidv7 } from '../../crypto/secrets.js'
import { entryRefusal, entryRules } from '../../engine/accounts.js'
import { canonicalEmail } from '../../engine/addresses.js'
import { AuthError } from '../../errors/index.js'
import type { ProviderProfile } from '../../identity-providers/provider-clients.js'
import { isBeingLinked, newUser, type OauthIdentity, type User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { takeBackUsed } from '../context/take-back-used.js'
import type { OauthIdentities } from './oauth-identities.js'
import type { ArrivedProfile, ProviderProofs } from './provider-proofs.js'

/** Whose account a provider's answer opens. */
export interface OauthAccounts {
  /**
   * The user this account at the provider belongs to, made now if it has no owner yet and the
   * settings let it register. An account with the same address is opened by that only where
   * `ProviderProofs` says so.
   * Throws `account_exists_link_required`, `registration_disabled`, `oauth_email_unverified`,
   * `email_not_allowed`, `email_domain_not_allowed` and `terms_not_accepted`.
   */
  accountOf(arrived: ArrivedProfile, source: RequestSource): Promise<Found>
}

export interface Found {
  readonly user: User
  readonly identityId: string
}

type Deps = Pick<
  SurfaceContext,
  'surface' | 'collections' | 'clock' | 'random' | 'settings' | 'emit'
>

/** Two callbacks of one person may come at once; the second finds what the first made. */
const tries = 4

interface Services {
  readonly identities: OauthIdentities
  readonly providerProofs: ProviderProofs
}

export function createOauthAccounts(deps: Deps, services: Services): OauthAccounts {
  const { surface, clock } = deps
  const { users, accountDeletions } = deps.collections
  const { identities, providerProofs } = services

  /** A deletion leaves its note for longer than a request takes. */
  async function wasDeleted(userId: string): Promise<boolean> {
    return (await accountDeletions.get(userId)) !== null
  }

  async function isTaken(email: string): Promise<boolean> {
    return (await users.find({ email }, { limit: 1 })).length > 0
  }

  /** The address of an account that may be made; whether it is free, the insert decides. */
  async function admit(profile: ProviderProfile, acceptedTerms: string): Promise<string> {
    const settings = await deps.settings()
    const email = profile.emailVerified ? canonicalEmail(profile.email ?? '') : null
    const rules = entryRules(surface, settings)
    const refusal = entryRefusal('providerSignUp', rules, {
      applicant: { email, acceptedTerms },
    })
    if (refusal !== null) {
      // Only the address's owner learns this, whom the provider confirms: it helps them to sign in.
      if (email !== null && (await isTaken(email))) {
        throw new AuthError('account_exists_link_required')
      }
      throw new AuthError(refusal)
    }
    // What is not vouched for was refused.
    return email ?? ''
  }

  async function insert(
    id: string,
    email: string,
    { profile, intent }: ArrivedProfile,
  ): Promise<User | null> {
    const { termsVersion } = intent.payload
    const now = clock.now()
    const user = newUser(now, {
      id,
      email,
      emailAsTyped: (profile.email ?? email).trim(),
      emailVerifiedAt: now,
      name: profile.name,
      selfRegistered: true,
      termsVersion: termsVersion === '' ? null : termsVersion,
    })
    return (await users.insert(user)) ? user : null
  }

  /** The user's own, or one that was left without a user; null when another attempt came between. */
  function claim(known: OauthIdentity | null, profile: ProviderProfile) {
    return known === null
      ? identities.add(profile, uuidv7(clock.now(), deps.random))
      : identities.renew(known)
  }

  /**
   * A conflict when another request came between. The identity comes first and names the account to
   * be: a crash in between leaves an address free, and the next sign-in goes on from there.
   */
  async function attempt(
    arrived: ArrivedProfile,
    source: RequestSource,
  ): Promise<Found | typeof conflict> {
    const { profile } = arrived
    const known = await identities.find(profile)
    if (known !== null && isBeingLinked(known)) {
      // One whose linking was cut off is as good as none.
      if (!(await identities.takeAbandoned(known))) throw new AuthError('oauth_failed')
      return conflict
    }
    const owner = known === null ? null : await users.get(known.userId)
    if (known !== null && owner !== null) return { user: owner, identityId: known.id }
    if (known !== null && (await wasDeleted(known.userId))) {
      // The person who signs in now gets a new account: ids are never used again.
      await identities.takeBack(known)
      return conflict
    }

    const opened = await providerProofs.open(arrived, known, source)
    return opened ?? signUp(known, arrived, source)
  }

  async function signUp(
    known: OauthIdentity | null,
    arrived: ArrivedProfile,
    source: RequestSource,
  ): Promise<Found | typeof conflict> {
    const { profile, intent } = arrived
    const email = await admit(profile, intent.payload.termsVersion)
    const identity = await claim(known, profile)
    if (identity === null) return conflict
    const made = await insert(identity.userId, email, arrived)
    // Another callback with this identity may have made the account, and its owner deleted it, since it was looked for.
    if (made !== null && (await takeBackUsed(deps.collections, made.id))) return conflict
    if (made !== null) {
      deps.emit('account.registered', source, { userId: made.id })
      return { user: made, identityId: identity.id }
    }
    const others = await users.get(identity.userId)
    if (others !== null) return { user: others, identityId: identity.id }
    await identities.takeBack(identity)
    throw new AuthError('account_exists_link_required')
  }

  return {
    accountOf: (arrived, source) => retryOnConflict(tries, () => attempt(arrived, source)),
  }
}
