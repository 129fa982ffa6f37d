import { createAccess } from './domain/access.js'
import { createGuessBudget } from './domain/guess-budget.js'
import { createLogin } from './domain/login.js'
import { createLogout } from './domain/logout.js'
import { createPasswordRecovery } from './domain/password-recovery.js'
import { createPasswordWriter } from './domain/password-writer.js'
import { createProfile } from './domain/profile.js'
import { createRefresh } from './domain/refresh.js'
import { createRefreshInspection } from './domain/refresh-inspection.js'
import { createRegistration } from './domain/registration.js'
import type { Services } from './domain/services.js'
import {
  createSessionAdministration,
  type SessionAdministration,
} from './domain/session-administration.js'
import { createSessions } from './domain/sessions.js'
import type { SurfaceDeps } from './domain/surface-deps.js'
import { createTickets } from './domain/tickets.js'
import { createTokens, type Tokens } from './domain/tokens.js'
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
  const budget = createGuessBudget(deps)
  const writer = createPasswordWriter(deps)
  const inspection = createRefreshInspection(deps, tokens, sessions)
  const refresh = createRefresh(deps, tokens, inspection)
  const services: Services = {
    registration: createRegistration(deps, sessions, tickets),
    login: createLogin(deps, sessions, tickets, budget),
    logout: createLogout(deps, tokens, sessions, inspection),
    refresh,
    passwordRecovery: createPasswordRecovery(deps, sessions, tickets, budget, writer),
    profile: createProfile(deps, sessions, budget, writer, refresh),
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
