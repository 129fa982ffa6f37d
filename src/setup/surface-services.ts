import {
  type AccountDeletions,
  createAccountDeletions,
} from '../domain/accounts/account-deletions.js'
import { createEmailChange } from '../domain/accounts/email-change.js'
import { createMfaReset, type MfaReset } from '../domain/accounts/mfa-reset.js'
import { createProfile } from '../domain/accounts/profile.js'
import { createRegistration } from '../domain/accounts/registration.js'
import { createSelfDeletion } from '../domain/accounts/self-deletion.js'
import { createUsers, type Users } from '../domain/accounts/users.js'
import { createAccess } from '../domain/authorization/access.js'
import { createRoles, type Roles } from '../domain/authorization/roles.js'
import type { ConfigAdministration } from '../domain/configuration/config-store.js'
import type { SurfaceContext } from '../domain/context/surface-context.js'
import { createBackupCodeSets } from '../domain/factors/backup-code-sets.js'
import { createCodeVerification } from '../domain/factors/code-verification.js'
import { createDeviceTrust } from '../domain/factors/device-trust.js'
import { createFactorChanges } from '../domain/factors/factor-changes.js'
import { createFactorRemoval } from '../domain/factors/factor-removal.js'
import { createReAuthentication } from '../domain/factors/re-authentication.js'
import { createStepUp } from '../domain/factors/step-up.js'
import { createTotpFactors } from '../domain/factors/totp-factors.js'
import { createTrustedDevices } from '../domain/factors/trusted-devices.js'
import { createLockout } from '../domain/limits/lockout.js'
import type { RateLimiter } from '../domain/limits/rate-limiter.js'
import type { FederatedLogin } from '../domain/login/federated-login.js'
import { createLoginPipeline } from '../domain/login/login-pipeline.js'
import { createLoginRisk } from '../domain/login/login-risk.js'
import { createLoginTickets } from '../domain/login/login-tickets.js'
import { createMfa } from '../domain/login/mfa.js'
import { createPasswordLogin } from '../domain/login/password-login.js'
import { createTicketGuesses } from '../domain/login/ticket-guesses.js'
import type { MailService } from '../domain/mail/mail-service.js'
import { createTickets } from '../domain/mail/tickets.js'
import { mayGoOn } from '../domain/oauth/may-go-on.js'
import { createOauthAccounts } from '../domain/oauth/oauth-accounts.js'
import { createOauthCodes } from '../domain/oauth/oauth-codes.js'
import { createOauthFlows } from '../domain/oauth/oauth-flows.js'
import { createOauthIdentities } from '../domain/oauth/oauth-identities.js'
import { createOauthLinks } from '../domain/oauth/oauth-links.js'
import { createOauthSignIn } from '../domain/oauth/oauth-sign-in.js'
import type { PasswordHashes } from '../domain/passwords/password-hashes.js'
import { createPasswordRecovery } from '../domain/passwords/password-recovery.js'
import type { PasswordRules } from '../domain/passwords/password-rules.js'
import { createPasswordWriter } from '../domain/passwords/password-writer.js'
import { createServiceAccounts } from '../domain/service-accounts/service-accounts.js'
import { createServiceCredentials } from '../domain/service-accounts/service-credentials.js'
import { createServiceGrants } from '../domain/service-accounts/service-grants.js'
import type { Services } from '../domain/services/index.js'
import { createLogout } from '../domain/sessions/logout.js'
import { createOwnSessions } from '../domain/sessions/own-sessions.js'
import { createRefresh } from '../domain/sessions/refresh.js'
import { createRefreshInspection } from '../domain/sessions/refresh-inspection.js'
import {
  createSessionAdministration,
  type SessionAdministration,
} from '../domain/sessions/session-administration.js'
import { createSessions } from '../domain/sessions/sessions.js'
import type { SigningKeys } from '../domain/sessions/signing-keys.js'
import { createTokens, type Tokens } from '../domain/sessions/tokens.js'
import type { ProviderClients } from '../identity-providers/provider-clients.js'
import type { Authorizer } from '../ports/authorizer.js'
import type { RiskScorer } from '../ports/risk-scorer.js'
import type { Surface } from '../ports/surface.js'
import { createPasskeyServices } from './passkey-services.js'

/** What the services of one surface are made of. */
export interface SurfaceParts extends SurfaceContext {
  readonly authorizer: Authorizer
  readonly config: ConfigAdministration
  readonly keys: SigningKeys
  readonly limits: RateLimiter
  readonly mail: MailService
  readonly passwordRules: PasswordRules
  readonly passwords: PasswordHashes
  /** This host as a client of the identity providers. */
  readonly providers: ProviderClients
  readonly riskScorer: RiskScorer
}

export interface SurfaceServices {
  readonly services: Services
  readonly users: Users
  readonly roles: Roles
  readonly sessions: SessionAdministration
  readonly tokens: Tokens
  readonly mfaReset: MfaReset
  readonly deletions: AccountDeletions
}

/**
 * Wires the services of one surface to each other. `surfaceOf` is asked once requests are served:
 * operators administer accounts of both.
 */
export function createSurfaceServices(
  deps: SurfaceParts,
  surfaceOf: (surface: Surface) => SurfaceServices,
): SurfaceServices {
  const tokens = createTokens(deps)
  const sessions = createSessions(deps, tokens)
  const tickets = createTickets(deps)
  const lockout = createLockout(deps, 'passwordFailures')
  const writer = createPasswordWriter(deps)
  const stepUp = createStepUp(deps)
  const loginTickets = createLoginTickets(deps)
  const devices = createTrustedDevices(deps)
  const risk = createLoginRisk(deps)
  const codes = createOauthCodes(deps, sessions)
  const federated: FederatedLogin = {
    isValid: (ticket) => mayGoOn(deps, codes, ticket),
    bindSession: codes.bindSession,
  }
  const pipeline = createLoginPipeline(deps, {
    sessions,
    tickets,
    loginTickets,
    federated,
    stepUp,
    devices,
    risk,
  })
  const totpFactors = createTotpFactors(deps)
  const backupCodeSets = createBackupCodeSets(deps)
  const changes = createFactorChanges(deps)
  const mfaReset = createMfaReset(deps, sessions, changes)
  const guesses = createTicketGuesses(deps, loginTickets, federated)
  const removal = createFactorRemoval(deps)
  const reAuthentication = createReAuthentication(deps, stepUp, lockout)
  const identities = createOauthIdentities(deps)
  const oauthLinks = createOauthLinks(deps, identities, reAuthentication)
  const oauth = createOauthSignIn(deps, {
    flows: createOauthFlows(deps),
    codes,
    identities,
    accounts: createOauthAccounts(deps, identities),
    links: oauthLinks,
    pipeline,
  })
  const mfa = createMfa(deps, {
    pipeline,
    changes,
    guesses,
    removal,
    reAuthentication,
    codeVerification: createCodeVerification(deps, totpFactors, backupCodeSets),
    stepUp,
    devices,
    totpFactors,
    backupCodeSets,
  })
  const inspection = createRefreshInspection(deps, tokens, sessions)
  const refresh = createRefresh(deps, tokens, inspection)
  const deletions = createAccountDeletions(deps, sessions)
  const users = createUsers(deps, sessions, mfaReset, deletions)
  const emailChange = createEmailChange(deps, tickets, reAuthentication)
  const services: Services = {
    registration: createRegistration(deps, pipeline, tickets, emailChange),
    login: createPasswordLogin(deps, pipeline, lockout),
    logout: createLogout(deps, tokens, sessions, inspection),
    refresh,
    passwordRecovery: createPasswordRecovery(deps, sessions, tickets, lockout, writer),
    profile: createProfile(deps, sessions, lockout, writer, refresh, identities),
    emailChange,
    selfDeletion: createSelfDeletion(deps, deletions, reAuthentication),
    ownSessions: createOwnSessions(deps, sessions),
    mailsOn: (surface) => surfaceOf(surface).services,
    mfa,
    mfaReset: (surface) => surfaceOf(surface).mfaReset,
    deviceTrust: createDeviceTrust(deps, devices),
    oauth,
    oauthLinks,
    stepUp,
    serviceAccounts: createServiceAccounts(deps, users, createServiceCredentials(deps)),
    ...createPasskeyServices(deps, {
      pipeline,
      changes,
      guesses,
      removal,
      reAuthentication,
      stepUp,
      devices,
    }),
    serviceGrants: createServiceGrants(deps, tokens),
    access: createAccess(deps, tokens),
    limits: deps.limits,
    settings: deps.settings,
    config: deps.config,
    jwks: async () => (await deps.keys.ring()).jwks(),
  }
  return {
    services,
    tokens,
    mfaReset,
    deletions,
    users,
    roles: createRoles(deps),
    sessions: createSessionAdministration(deps, sessions),
  }
}
