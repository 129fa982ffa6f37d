import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorServices } from '../factors/assemble-factors.js'
import type { IntentServices } from '../intents/assemble-intents.js'
import { createLockout } from '../limits/lockout.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { LoginServices } from '../login/assemble-login.js'
import type { MailServices } from '../mail/assemble-mail.js'
import { createSessionGuesses } from '../sessions/session-guesses.js'
import type { Sessions } from '../sessions/sessions.js'
import { createOwnPasskeys, type OwnPasskeys } from './own-passkeys.js'
import { createPasskeyAssertions } from './passkey-assertions.js'
import { createPasskeyLogin, type PasskeyLogin } from './passkey-login.js'
import { createPasskeyProofs } from './passkey-proofs.js'
import { createPasskeyRegistration, type PasskeyRegistration } from './passkey-registration.js'
import { createPasskeyStepUp, type PasskeyStepUp } from './passkey-step-up.js'

export interface PasskeyServices {
  readonly passkeyRegistration: PasskeyRegistration
  readonly passkeyLogin: PasskeyLogin
  readonly passkeyStepUp: PasskeyStepUp
  readonly ownPasskeys: OwnPasskeys
}

/** What the services of passkeys work with. */
export interface PasskeyCollaborators
  extends FactorServices,
    Pick<IntentServices, 'challenges' | 'loginIntents'>,
    Pick<LoginServices, 'pipeline'>,
    Pick<MailServices, 'suspicions'> {
  readonly limits: RateLimiter
  readonly sessions: Pick<Sessions, 'end'>
}

export function createPasskeyServices(
  context: SurfaceContext,
  collaborators: PasskeyCollaborators,
): PasskeyServices {
  const deps = { ...context, ...collaborators }
  const assertions = createPasskeyAssertions(deps)
  const guesses = {
    lockout: createLockout(deps, 'passkeyFailures'),
    sessionGuesses: createSessionGuesses(deps, 'factorFailuresOfSession'),
  }
  const proofs = createPasskeyProofs(deps, { ...collaborators, assertions, ...guesses })
  const services = { ...collaborators, assertions, proofs }
  return {
    passkeyRegistration: createPasskeyRegistration(deps, services),
    passkeyLogin: createPasskeyLogin(deps, services),
    passkeyStepUp: createPasskeyStepUp(deps, services),
    ownPasskeys: createOwnPasskeys(deps, collaborators.removal),
  }
}
