import { isUuid } from '../../crypto/secrets.js'
import { AuthError } from '../../errors/index.js'
import type { OauthIdentity } from '../../model/user.js'
import { type Actor, actBy } from '../context/actor.js'
import type { OauthIdentities } from './oauth-identities.js'
import type { OauthLinks } from './oauth-links.js'

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

export function createIdentityAdministration(
  identities: Pick<OauthIdentities, 'ofUser'>,
  links: Pick<OauthLinks, 'person' | 'unlinkOf'>,
): IdentityAdministration {
  return {
    async list(userId) {
      return isUuid(textOf('userId', userId)) ? (await identities.ofUser(userId)).map(recordOf) : []
    },

    async remove(userId, identityId, by = {}) {
      const { actorId, source } = actBy(by)
      const which = { identityId: textOf('identityId', identityId) }
      const user = await links.person(textOf('userId', userId))
      await links.unlinkOf(actorId ?? 'host', user, which, source)
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
