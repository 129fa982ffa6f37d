import { createAccess } from './domain/access.js'
import { createBackupCodeSets } from './domain/backup-code-sets.js'
import { createGuessBudget } from './domain/guess-budget.js'
import { createLogin } from './domain/login.js'
import { createLoginPipeline } from './domain/login-pipeline.js'
import { createLoginTickets } from './domain/login-tickets.js'
import { createLogout } from './domain/logout.js'
import { createMfa } from './domain/mfa.js'
import { createPasswordRecovery } from './domain/password-recovery.js'
import { createPasswordWriter } from './domain/password-writer.js'
import { createProfile } from './domain/profile.js'
import { createReAuthentication } from './domain/re-authentication.js'
import { createRefresh } from './domain/refresh.js'
import { createRefreshInspection } from './domain/refresh-inspection.js'
import { createRegistration } from './domain/registration.js'
import { createSecondFactors } from './domain/second-factors.js'
import type { Services } from './domain/services.js'
import {
  createSessionAdministration,
  type SessionAdministration,
} from './domain/session-administration.js'
import { createSessions } from './domain/sessions.js'
import { createStepUp } from './domain/step-up.js'
import type { SurfaceDeps } from './domain/surface-deps.js'
import { createTickets } from './domain/tickets.js'
import { createTokens, type Tokens } from './domain/tokens.js'
import { createTotpFactors } from './domain/totp-factors.js'
import { createUsers, type Users } from './domain/users.js'
import type { Authorizer } from './ports/authorizer.js'

export interface SurfaceServices {
  readonly services: Services
  readonly users: Users
  readonly sessions: SessionAdministration
  readonly tokens: Tokens
}

/** Wires the services of one surface to each other. */
export function createSurfaceServices(deps: SurfaceDeps, authorizer: Authorizer): SurfaceServices {
  const tokens = createTokens(deps)
  const sessions = createSessions(deps, tokens)
  const tickets = createTickets(deps)
  const budget = createGuessBudget(deps, 'passwordFailures')
  const writer = createPasswordWriter(deps)
  const stepUp = createStepUp(deps)
  const loginTickets = createLoginTickets(deps)
  const pipeline = createLoginPipeline(deps, { sessions, tickets, loginTickets, stepUp })
  const totpFactors = createTotpFactors(deps)
  const backupCodeSets = createBackupCodeSets(deps)
  const mfa = createMfa(deps, {
    pipeline,
    loginTickets,
    reAuthentication: createReAuthentication(deps, stepUp, budget),
    secondFactors: createSecondFactors(deps, totpFactors, backupCodeSets),
    stepUp,
    totpFactors,
    backupCodeSets,
  })
  const inspection = createRefreshInspection(deps, tokens, sessions)
  const refresh = createRefresh(deps, tokens, inspection)
  const services: Services = {
    registration: createRegistration(deps, pipeline, tickets),
    login: createLogin(deps, pipeline, budget),
    logout: createLogout(deps, tokens, sessions, inspection),
    refresh,
    passwordRecovery: createPasswordRecovery(deps, sessions, tickets, budget, writer),
    profile: createProfile(deps, sessions, budget, writer, refresh),
    mfa,
    stepUp,
    access: createAccess({ ...deps, authorizer }, tokens),
    limits: deps.limits,
    settings: deps.settings,
    config: deps.config,
    jwks: async () => (await deps.keys.ring()).jwks(),
  }
  return {
    services,
    tokens,
    users: createUsers(deps, sessions),
    sessions: createSessionAdministration(deps, sessions),
  }
}
