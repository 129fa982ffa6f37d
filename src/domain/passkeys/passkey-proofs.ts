import type { AssertionResponse } from '../../crypto/webauthn.js'
import { AuthError } from '../../errors/index.js'
import type { User } from '../../model/user.js'
import type { RequestSource } from '../../ports/request-source.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Ceremony, PasskeyChallenges } from '../intents/passkey-challenges.js'
import type { Lockout } from '../limits/lockout.js'
import type { PasskeyAssertions } from './passkey-assertions.js'

/** What a client sends back of a ceremony. */
export interface ShownPasskey {
  readonly challengeId: string
  readonly response: AssertionResponse
}

/** A passkey of a user who is known by other means: a password, or a session. */
export interface PasskeyProofs {
  /**
   * Accepts a response and spends its challenge. Throws `invalid_mfa_code`, alike whatever is wrong,
   * and `rate_limited` while too many were wrong: passkeys have a counter of their own.
   */
  show(
    ceremony: Ceremony & { readonly user: User },
    shown: ShownPasskey,
    terms: {
      readonly userVerification: 'preferred' | 'required'
      readonly besideFactor: boolean
    },
    source: RequestSource,
  ): Promise<{ readonly userVerified: boolean }>
}

type Deps = Pick<SurfaceContext, 'emit'>

interface Services {
  readonly challenges: PasskeyChallenges
  readonly assertions: PasskeyAssertions
  readonly lockout: Lockout
}

export function createPasskeyProofs(deps: Deps, services: Services): PasskeyProofs {
  const { challenges, assertions, lockout } = services
  return {
    async show(ceremony, { challengeId, response }, terms, source) {
      const { user } = ceremony
      const facts = { userId: user.id, method: 'webauthn' } as const

      async function check() {
        const challenge = await challenges.take(challengeId, ceremony)
        if (challenge === null) return { ok: false, userVerified: false }
        const passkey = await assertions.find(response.id)
        if (passkey?.userId !== user.id) return { ok: false, userVerified: false }
        const all = { ...terms, challenge }
        const accepted = await assertions.accept(passkey, response, all, source)
        return { ok: accepted !== null, userVerified: accepted?.userVerified === true }
      }

      const { ok, userVerified } = await lockout.attempt(user.id, check, (_, { until }) =>
        deps.emit('mfa.lockedOut', source, { ...facts, until }),
      )
      if (ok) return { userVerified }
      deps.emit('mfa.failed', source, facts)
      throw new AuthError('invalid_mfa_code')
    },
  }
}
