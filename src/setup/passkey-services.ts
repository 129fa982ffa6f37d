import type { SurfaceContext } from '../domain/context/surface-context.js'
import type { FactorChanges } from '../domain/factors/factor-changes.js'
import type { FactorRemoval } from '../domain/factors/factor-removal.js'
import type { ReAuthentication } from '../domain/factors/re-authentication.js'
import type { StepUp } from '../domain/factors/step-up.js'
import type { TrustedDevices } from '../domain/factors/trusted-devices.js'
import { createLockout } from '../domain/limits/lockout.js'
import type { RateLimiter } from '../domain/limits/rate-limiter.js'
import type { LoginPipeline } from '../domain/login/login-pipeline.js'
import type { TicketGuesses } from '../domain/login/ticket-guesses.js'
import { createOwnPasskeys } from '../domain/passkeys/own-passkeys.js'
import { createPasskeyAssertions } from '../domain/passkeys/passkey-assertions.js'
import { createPasskeyChallenges } from '../domain/passkeys/passkey-challenges.js'
import { createPasskeyLogin } from '../domain/passkeys/passkey-login.js'
import { createPasskeyProofs } from '../domain/passkeys/passkey-proofs.js'
import { createPasskeyRegistration } from '../domain/passkeys/passkey-registration.js'
import { createPasskeyStepUp } from '../domain/passkeys/passkey-step-up.js'
import type { Services } from '../domain/services/index.js'

type PasskeyServices = Pick<
  Services,
  'passkeyRegistration' | 'passkeyLogin' | 'passkeyStepUp' | 'ownPasskeys'
>

interface Shared {
  readonly pipeline: LoginPipeline
  readonly changes: FactorChanges
  readonly guesses: TicketGuesses
  readonly removal: FactorRemoval
  readonly reAuthentication: ReAuthentication
  readonly stepUp: StepUp
  readonly devices: TrustedDevices
}

/** Wires what has to do with the passkeys of one surface. */
export function createPasskeyServices(
  deps: SurfaceContext & { readonly limits: RateLimiter },
  shared: Shared,
): PasskeyServices {
  const challenges = createPasskeyChallenges(deps)
  const assertions = createPasskeyAssertions(deps)
  const lockout = createLockout(deps, 'passkeyFailures')
  const proofs = createPasskeyProofs(deps, challenges, assertions, lockout)
  return {
    passkeyRegistration: createPasskeyRegistration(deps, { ...shared, assertions, challenges }),
    passkeyLogin: createPasskeyLogin(deps, { ...shared, challenges, assertions, lockout, proofs }),
    passkeyStepUp: createPasskeyStepUp(deps, { ...shared, challenges, proofs }),
    ownPasskeys: createOwnPasskeys(deps, shared.removal, shared.changes),
  }
}
