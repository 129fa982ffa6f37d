import type { RiskScorer } from '../../ports/risk-scorers.js'
import type { SurfaceContext } from '../context/surface-context.js'
import type { FactorServices } from '../factors/assemble-factors.js'
import type { IntentServices } from '../intents/assemble-intents.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MailServices } from '../mail/assemble-mail.js'
import type { PasswordCheck } from '../passwords/password-check.js'
import type { Sessions } from '../sessions/sessions.js'
import { createKnownLogins } from './known-logins.js'
import { createLoginChecks } from './login-checks.js'
import { createLoginEffects } from './login-effects.js'
import { createLoginPipeline, type LoginPipeline } from './login-pipeline.js'
import { createLoginRisk } from './login-risk.js'
import { createMfaLogin, type MfaLogin } from './mfa-login.js'
import { createPasswordLogin, type PasswordLogin } from './password-login.js'
import { createRecognition } from './recognition.js'

export interface LoginServices {
  readonly pipeline: LoginPipeline
  readonly login: PasswordLogin
  readonly mfaLogin: MfaLogin
}

interface Collaborators extends FactorServices, IntentServices, MailServices {
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
  const risk = createLoginRisk({
    ...deps,
    knownLogins: createKnownLogins(deps),
    recognition: createRecognition(deps),
  })
  const pipeline = createLoginPipeline(deps, {
    checks: createLoginChecks(deps, collaborators),
    devices: collaborators.devices,
    effects: createLoginEffects(deps, collaborators),
    loginIntents: collaborators.loginIntents,
    risk,
  })
  return {
    pipeline,
    login: createPasswordLogin(deps, { ...collaborators, pipeline }),
    mfaLogin: createMfaLogin({ ...collaborators, pipeline }),
  }
}
