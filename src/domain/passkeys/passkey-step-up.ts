import { requestOptions } from '../../crypto/webauthn.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import { passkeysOfUser } from '../context/enrolled-factors.js'
import type { SignedIn } from '../context/principal.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { StepUp } from '../factors/step-up.js'
import { challengeLifeMs, type PasskeyChallenges } from '../intents/passkey-challenges.js'
import { mayShowPasskey } from './may-show-passkey.js'
import type { StartedAssertion } from './passkey-login.js'
import type { PasskeyProofs, ShownPasskey } from './passkey-proofs.js'

/** Proving a passkey again within a session. One that does not verify its owner proves nothing. */
export interface PasskeyStepUp {
  /** Throws `mfa_method_disabled` and `factor_not_found`. */
  start(who: SignedIn): Promise<StartedAssertion>
  /**
   * Epoch milliseconds of the proof. Throws `factor_not_found`, `invalid_mfa_code`, `rate_limited`, and what
   * `sessionRefusal` gives.
   */
  finish(who: SignedIn, shown: ShownPasskey, source: RequestSource): Promise<number>
}

type Deps = Pick<SurfaceContext, 'collections' | 'settings' | 'emit' | 'relyingParty'>

interface Services {
  readonly challenges: PasskeyChallenges
  readonly proofs: PasskeyProofs
  readonly stepUp: StepUp
}

export function createPasskeyStepUp(deps: Deps, services: Services): PasskeyStepUp {
  const { collections } = deps

  async function ownPasskeys({ user }: SignedIn) {
    const own = await passkeysOfUser(collections, user.id)
    if (own.length === 0) throw new AuthError('factor_not_found')
    return own
  }

  return {
    async start(who) {
      const { user, sessionId: boundTo } = who
      if (!(await mayShowPasskey(deps, user.id))) throw new AuthError('mfa_method_disabled')
      const allow = await ownPasskeys(who)
      const { challengeId, challenge } = await services.challenges.issue({
        kind: 'passkeyStepUp',
        user,
        boundTo,
      })
      const options = await requestOptions({
        rpId: deps.relyingParty.rpId,
        challenge,
        allow,
        userVerification: 'required',
        timeoutMs: challengeLifeMs,
      })
      return { challengeId, options }
    },

    async finish(who, shown, source) {
      const { user, sessionId } = who
      await ownPasskeys(who)
      if (!(await mayShowPasskey(deps, user.id))) throw new AuthError('invalid_mfa_code')
      await services.stepUp.requireSession(who)
      const ceremony = { kind: 'passkeyStepUp', user, boundTo: sessionId } as const
      const terms = { userVerification: 'required', besideFactor: false } as const
      await services.proofs.show(ceremony, shown, terms, source)
      const provedAt = await services.stepUp.record(user, sessionId, 'webauthn')
      deps.emit('mfa.steppedUp', source, { userId: user.id, sessionId, method: 'webauthn' })
      return provedAt
    },
  }
}
