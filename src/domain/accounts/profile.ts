import { AuthError } from '../../errors/index.js'
import type { OauthIdentity, User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import type { Principal, SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import { limitedSuccess } from '../limits/limited-success.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { OauthIdentities } from '../oauth/oauth-identities.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { PasswordRecovery } from '../passwords/password-recovery.js'
import type { PasswordWriter } from '../passwords/password-writer.js'
import type { Sessions } from '../sessions/sessions.js'

/** What a signed-in person does with their own account. */
export interface Profile {
  /**
   * Throws `permission_denied` for an account that was disabled meanwhile. Where the owner of the mailbox proved it since
   * the session began, throws what `IntentJudge.sessionRefusal` gives.
   */
  rename(who: SignedIn, name: string, source: RequestSource): Promise<User>
  /** The accounts at providers they can sign in with. */
  identitiesOf(userId: string): Promise<readonly LinkedIdentity[]>
  /**
   * Throws `invalid_credentials` for a wrong current password, of which too many end the session,
   * `password_policy`, and `rate_limited` for more than a few changes of one account in an hour. Ends
   * the other sessions when the settings say so. In that case one holder of this session's refresh token
   * goes on, and a refresh by the next holder is a replay.
   */
  changePassword(
    { user, sessionId }: AskingSession,
    input: { readonly currentPassword: string; readonly newPassword: string },
    source: RequestSource,
  ): Promise<void>
}

type AskingSession = Pick<SignedIn, 'user' | 'sessionId'>

/** An account at a provider, as its owner sees it. */
export type LinkedIdentity = Pick<OauthIdentity, 'provider' | 'linkedAt'>

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly limits: RateLimiter
}

interface Services {
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
  readonly sessions: Sessions
  readonly passwordCheck: PasswordCheck
  readonly passwordWriter: PasswordWriter
  readonly passwordRecovery: PasswordRecovery
  readonly oauthIdentities: OauthIdentities
}

/** A proof of the mailbox beside us moves the record, once. */
const attempts = 3

/**
 * The owner's proof of the mailbox ends the sessions of a stranger by one write, and reaches each of them a little
 * later. A session that began after the proof is the owner's.
 */
function isOlderThanProof(
  { claims }: Principal,
  { selfRegistered, emailVerifiedAt }: Pick<User, 'selfRegistered' | 'emailVerifiedAt'>,
): boolean {
  return selfRegistered && emailVerifiedAt !== null && claims.authTime * 1000 <= emailVerifiedAt
}

export function createProfile(deps: Deps, services: Services): Profile {
  const { judge, sessions, passwordCheck, passwordRecovery, passwordWriter: writer } = services
  const { limits } = deps
  const { users } = deps.collections

  return {
    async identitiesOf(userId) {
      const linked = await services.oauthIdentities.ofUser(userId)
      return linked.map(({ provider, linkedAt }) => ({ provider, linkedAt }))
    },

    async rename({ user, sessionId, principal }, name, source) {
      let seen = user
      const attempt = async () => {
        const refusal = isOlderThanProof(principal, seen)
          ? await judge.sessionRefusal(seen, sessionId)
          : null
        if (refusal !== null) throw refusal
        const guard = { enabled: true, emailVerifiedAt: seen.emailVerifiedAt }
        const renamed = await users.update(user.id, guard, { name, updatedAt: deps.clock.now() })
        if (renamed !== null) return renamed
        const found = await users.get(user.id)
        if (found === null || !found.enabled) throw new AuthError('permission_denied')
        seen = found
        return conflict
      }
      const renamed = await retryOnConflict(attempts, attempt)
      deps.emit('account.updated', source, {
        actorId: user.id,
        targetId: user.id,
        fields: ['name'],
        before: {},
        after: {},
      })
      return renamed
    },

    async changePassword({ user, sessionId }, input, source) {
      const { currentPassword, newPassword } = input
      const userId = user.id
      const isPassword = (guess: string, of: User) =>
        passwordCheck.ofSession({ user: of, sessionId }, guess, source)
      // The new password was written and not all other sessions were ended: the same request
      // again completes it. Only the session that was spared gets there, and each guess counts.
      const isWritten = async (of: User) =>
        of.keptSessionId === sessionId && (await isPassword(newPassword, of))
      if (!(await isPassword(currentPassword, user))) {
        if (await isWritten(user)) {
          await sessions.endAll(userId, 'password_change', source, { except: sessionId })
          return
        }
        deps.emit('password.changeFailed', source, { userId, sessionId })
        throw new AuthError('invalid_credentials')
      }
      const { revokeSessionsOnPasswordChange: endsSessions } = await deps.settings()
      // Each change voids the link by which the owner takes the account back from a thief.
      await limitedSuccess(limits, 'passwordChangePerUser', userId, async () => {
        const written = await writer.write(user, newPassword, {
          by: 'change',
          endsSessions,
          keepSessionId: endsSessions ? sessionId : null,
          source,
          sessionId,
          // A request that is sent again meets the write of its first, even that of a process which is gone.
          isWritten,
        })
        // Another request changed the credentials since the current password was checked.
        if (written === null) throw new AuthError('invalid_credentials')
      })
      await passwordRecovery.allowAgain(user)
      if (endsSessions) {
        await sessions.endAll(user.id, 'password_change', source, { except: sessionId })
      }
    },
  }
}
