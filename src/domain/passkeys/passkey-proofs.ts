import type { AssertionResponse } from '../../crypto/webauthn.js'
import { isToldGuess } from '../../engine/login-risk-rules.js'
import { AuthError } from '../../errors/index.js'
import type { RequestSource } from '../../ports/surface.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { Ceremony, PasskeyChallenges } from '../intents/passkey-challenges.js'
import type { Lockout } from '../limits/lockout.js'
import type { SuspicionNotices } from '../mail/assemble-mail.js'
import type { SessionGuesses } from '../sessions/session-guesses.js'
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
   * and `rate_limited` while too many were wrong. Those after a password are counted for the user, and those within a session
   * for the session, which ends with the last one.
   */
  show(
    ceremony: Ceremony,
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
  readonly sessionGuesses: SessionGuesses
  readonly suspicions: SuspicionNotices
}

export function createPasskeyProofs(deps: Deps, services: Services): PasskeyProofs {
  const { challenges, assertions, lockout, sessionGuesses, suspicions } = services
  return {
    async show(ceremony, { challengeId, response }, terms, source) {
      const { user, kind, boundTo } = ceremony
      const sessionId = kind === 'passkeyStepUp' ? boundTo : null
      const facts = { userId: user.id, method: 'webauthn', sessionId } as const

      const guess = { number: 0, mailed: false }

      async function check(failedBefore: number) {
        guess.number = failedBefore + 1
        const refused = { ok: false, userVerified: false }
        const intent = await challenges.spend(challengeId, ceremony)
        if (intent === null) return refused
        const passkey = await assertions.find(response.id)
        if (passkey?.userId !== user.id) return refused
        const { challenge } = intent.payload
        const verified = await assertions.verify(passkey, response, { ...terms, challenge })
        const noted = verified === null ? null : await assertions.note(verified, source)
        return noted === null ? refused : { ok: true, ...noted }
      }

      function tellOfFailure() {
        deps.emit('mfa.failed', source, facts)
        if (isToldGuess(guess)) suspicions.tell(user.id, 'secondFactor', source)
      }

      async function inSession(failedBefore: number) {
        const result = await check(failedBefore)
        // Before the session ends, which may fail.
        if (!result.ok) tellOfFailure()
        return result
      }

      async function atLogin() {
        const result = await lockout.attempt(user.id, check, (_, { until }) => {
          deps.emit('mfa.lockedOut', source, { ...facts, until })
        })
        if (!result.ok) tellOfFailure()
        return result
      }

      const { ok, userVerified } =
        sessionId === null
          ? await atLogin()
          : await sessionGuesses.attempt({ userId: user.id, sessionId }, inSession, source)
      if (!ok) throw new AuthError('invalid_mfa_code')
      return { userVerified }
    },
  }
}
