import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import { offeredMethods } from './offered-methods.js'
import type { StepUp } from './step-up.js'

/** Re-authenticates a signed-in user before a change of how to sign in (ASVS 7.5.1). */
export interface ReAuthentication {
  /**
   * With a factor, of a kind that is switched off as well: a second-factor proof younger than `stepUpMaxAge`. Without one: the
   * current password. With neither: a login as young as that. Throws `step_up_required`,
   * `invalid_credentials` and `rate_limited`, and `session_revoked` where the session was ended while its
   * password was checked.
   */
  require(who: SignedIn, currentPassword: string | undefined, source: RequestSource): Promise<void>
  /**
   * Asked again just before the change is written, with the account as it is then: what to throw where the session was
   * ended, or the account's password or factors were changed; null where neither was.
   */
  refusalSince(who: Asker, now: User | null): Promise<AuthError | null>
}

/** Somebody who was re-authenticated, and the password they gave, if any. */
export type Asker = SignedIn & { readonly currentPassword: string | undefined }

interface Deps extends Pick<SurfaceContext, 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly judge: Pick<IntentJudge, 'isSessionOpen'>
}

export function createReAuthentication(
  deps: Deps,
  stepUp: StepUp,
  passwordCheck: PasswordCheck,
): ReAuthentication {
  async function refusalSince(
    { user, sessionId, currentPassword }: Asker,
    now: User | null,
  ): Promise<AuthError | null> {
    if (now === null || !(await deps.judge.isSessionOpen(now, sessionId))) {
      return new AuthError('session_revoked')
    }
    const { credentialEpoch, deviceEpoch } = now
    if (credentialEpoch === user.credentialEpoch && deviceEpoch === user.deviceEpoch) return null
    if (currentPassword !== undefined) return new AuthError('invalid_credentials')
    return stepUpRequired((await deps.settings()).stepUpMaxAge)
  }

  /** A hash waits for its turn, and meanwhile the owner may have taken the account back from a thief. */
  async function requireUnchanged(who: Asker): Promise<void> {
    const refusal = await refusalSince(who, await deps.collections.users.get(who.user.id))
    if (refusal !== null) throw refusal
  }

  async function requirePassword(
    who: SignedIn,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<void> {
    if (currentPassword === undefined) throw new AuthError('invalid_credentials')
    if (await passwordCheck.ofSession(who, currentPassword, source))
      return requireUnchanged({ ...who, currentPassword })
    const { user, sessionId } = who
    deps.emit('password.changeFailed', source, { userId: user.id, sessionId })
    throw new AuthError('invalid_credentials')
  }

  return {
    refusalSince,

    async require(who, currentPassword, source) {
      const { stepUpMaxAge } = await deps.settings()
      const methods = await offeredMethods(deps, who.user.id)
      if (methods.length > 0) return stepUp.require(who.principal, stepUpMaxAge)
      if (who.user.passwordHash !== null) return requirePassword(who, currentPassword, source)
      const age = deps.clock.now() - who.principal.claims.authTime * 1000
      if (age < 0 || age >= stepUpMaxAge) throw stepUpRequired(stepUpMaxAge)
    },
  }
}

function stepUpRequired(maxAgeMs: number): AuthError {
  return new AuthError('step_up_required', { maxAgeSeconds: Math.floor(maxAgeMs / 1000) })
}
