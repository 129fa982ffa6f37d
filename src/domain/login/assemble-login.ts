import type { RiskScorer } from '../../ports/risk-scorer.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorServices } from '../factors/assemble-factors.js'
import { createLoginTickets } from '../intents/login-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailServices } from '../mail/assemble-mail.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { Sessions } from '../sessions/sessions.js'
import type { FederatedLogin } from './federated-login.js'
import { createLoginChecks } from './login-checks.js'
import { createLoginEffects } from './login-effects.js'
import { createLoginPipeline, type LoginPipeline } from './login-pipeline.js'
import { createLoginRisk } from './login-risk.js'
import { createMfaLogin, type MfaLogin } from './mfa-login.js'
import { createPasswordLogin, type PasswordLogin } from './password-login.js'
import { createTicketGuesses, type TicketGuesses } from './ticket-guesses.js'

export interface LoginServices {
  readonly pipeline: LoginPipeline
  readonly guesses: TicketGuesses
  readonly login: PasswordLogin
  readonly mfaLogin: MfaLogin
}

interface Collaborators extends FactorServices, MailServices {
  readonly federated: FederatedLogin
  readonly limits: RateLimiter
  readonly passwordCheck: PasswordCheck
  readonly riskScorer: RiskScorer
  readonly sessions: Sessions
}

export function assembleLogin(
  context: SurfaceContext,
  collaborators: Collaborators,
): LoginServices {
  const deps = { ...context, ...collaborators }
  const loginTickets = createLoginTickets(deps)
  const risk = createLoginRisk(deps)
  const pipeline = createLoginPipeline(deps, {
    checks: createLoginChecks(deps, collaborators),
    devices: collaborators.devices,
    effects: createLoginEffects(deps, { ...collaborators, loginTickets }),
    loginTickets,
    risk,
  })
  const guesses = createTicketGuesses(deps, loginTickets, collaborators.federated)
  return {
    pipeline,
    guesses,
    login: createPasswordLogin(deps, pipeline, collaborators.passwordCheck),
    mfaLogin: createMfaLogin({ ...collaborators, pipeline, guesses }),
  }
}
