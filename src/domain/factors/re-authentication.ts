import { proofAge } from '../../engine/duration.js'
import { settingsFor } from '../../engine/surface-settings.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { isVoidProof } from '../context/void-proof.js'
import type { IntentJudge } from '../intents/intent-judge.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import { offeredMethods } from './offered-methods.js'
import type { StepUp } from './step-up.js'
import { stepUpRequired } from './step-up-required.js'

/** Re-authenticates a signed-in user before a change of how to sign in (ASVS 7.5.1). */
export interface ReAuthentication {
  /**
   * Asks for one of three. A user with a factor, even of a kind that is switched off, needs a second-factor proof younger
   * than `stepUpMaxAge`. A user without one needs the current password. A user with neither, or while passwords are off,
   * needs a login younger than `stepUpMaxAge`. Throws `step_up_required`, `invalid_credentials` and `rate_limited`, and
   * `session_revoked` or `session_max_age_reached` where the session ended while the password was checked. Resolves with a
   * function that asks again; call it just before the change is written.
   */
  require(
    who: SignedIn,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<RefusalSince>
}

/**
 * Takes the account as it is now, and gives what to throw where the session was ended, or the account's password or
 * factors were changed, since the user was re-authenticated; null where none of this happened.
 */
export type RefusalSince = (now: User | null) => Promise<AuthError | null>

interface Deps
  extends Pick<SurfaceContext, 'surface' | 'collections' | 'clock' | 'settings' | 'emit'> {
  readonly judge: Pick<IntentJudge, 'sessionRefusal'>
}

export function createReAuthentication(
  deps: Deps,
  stepUp: StepUp,
  passwordCheck: PasswordCheck,
): ReAuthentication {
  /** `refusal` is for an account whose credentials changed: what was asked for has to be shown again. */
  function since({ user, sessionId }: SignedIn, refusal: AuthError): RefusalSince {
    return async (now) => {
      if (now === null) return new AuthError('session_revoked')
      const ended = await deps.judge.sessionRefusal(now, sessionId)
      if (ended !== null) return ended
      const { credentialEpoch, deviceEpoch } = now
      const isSame = credentialEpoch === user.credentialEpoch && deviceEpoch === user.deviceEpoch
      return isSame ? null : refusal
    }
  }

  async function requirePassword(
    who: SignedIn,
    currentPassword: string | undefined,
    source: RequestSource,
  ): Promise<RefusalSince> {
    const { user, sessionId } = who
    if (currentPassword === undefined) throw new AuthError('invalid_credentials')
    if (!(await passwordCheck.ofSession(who, currentPassword, source))) {
      deps.emit('password.changeFailed', source, { userId: user.id, sessionId })
      throw new AuthError('invalid_credentials')
    }
    // A hash waits for its turn, and meanwhile the owner may have taken the account back from a thief.
    const refusalSince = since(who, new AuthError('invalid_credentials'))
    const refusal = await refusalSince(await deps.collections.users.get(user.id))
    if (refusal !== null) throw refusal
    return refusalSince
  }

  async function requireRecent(
    { principal, sessionId }: SignedIn,
    hasFactor: boolean,
    maxAgeMs: number,
  ) {
    if (hasFactor) return stepUp.require(principal, maxAgeMs)
    const age = proofAge(principal.claims.authTime * 1000, deps.clock.now())
    const isRecent = age !== null && age < maxAgeMs
    const isUnusual = isVoidProof(await deps.collections.stepUpProofs.get(sessionId))
    if (!isRecent || isUnusual) throw stepUpRequired(maxAgeMs)
  }

  return {
    async require(who, currentPassword, source) {
      const settings = await deps.settings()
      const { stepUpMaxAge } = settings
      const { passwordLoginEnabled } = settingsFor(deps.surface, settings)
      const hasFactor = (await offeredMethods(deps, who.user.id)).length > 0
      // While passwords are off, one that is left proves nothing, and its owner cannot reset it.
      const isByPassword = !hasFactor && passwordLoginEnabled && who.user.passwordHash !== null
      if (isByPassword) return requirePassword(who, currentPassword, source)
      await requireRecent(who, hasFactor, stepUpMaxAge)
      return since(who, stepUpRequired(stepUpMaxAge))
    },
  }
}
