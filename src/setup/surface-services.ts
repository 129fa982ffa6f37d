import type { TokenMemo } from '../crypto/memos.js'
import type { AccountDeletions } from '../domain/accounts/account-deletions.js'
import { assembleAccounts } from '../domain/accounts/assemble-accounts.js'
import type { MfaReset } from '../domain/accounts/mfa-reset.js'
import { createPageOptions } from '../domain/accounts/page-options.js'
import type { Registrations } from '../domain/accounts/registrations.js'
import type { Users } from '../domain/accounts/users.js'
import { assembleAuthorization } from '../domain/authorization/assemble-authorization.js'
import type { Roles } from '../domain/authorization/roles.js'
import type { ConfigAdministration } from '../domain/configuration/config-store.js'
import type { Reencryption } from '../domain/configuration/reencryption.js'
import type { SurfaceContext } from '../domain/context/surface-context.js'
import { assembleFactors } from '../domain/factors/assemble-factors.js'
import type { EnrollmentNotices } from '../domain/factors/enrollment-notices.js'
import { assembleIntents } from '../domain/intents/assemble-intents.js'
import type { RateLimiter } from '../domain/limits/rate-limiter.js'
import { assembleLogin } from '../domain/login/assemble-login.js'
import { assembleMail } from '../domain/mail/assemble-mail.js'
import type { Links } from '../domain/mail/mail-service.js'
import { assembleOauth } from '../domain/oauth/assemble-oauth.js'
import type { IdentityAdministration } from '../domain/oauth/identity-administration.js'
import { assemblePasskeys } from '../domain/passkeys/assemble-passkeys.js'
import {
  assemblePasswords,
  type SharedPasswordServices,
} from '../domain/passwords/assemble-passwords.js'
import { assembleServiceAccounts } from '../domain/service-accounts/assemble-service-accounts.js'
import type { ServiceAccountAdministration } from '../domain/service-accounts/service-account-administration.js'
import type { Services } from '../domain/services/index.js'
import type { AllSessionsTermination } from '../domain/sessions/all-sessions-termination.js'
import { assembleSessions } from '../domain/sessions/assemble-sessions.js'
import type { SessionAdministration } from '../domain/sessions/session-administration.js'
import type { SigningKeys } from '../domain/sessions/signing-keys.js'
import type { Tokens } from '../domain/sessions/tokens.js'
import type { ProviderClients } from '../identity-providers/provider-clients.js'
import type { Authorizer, Mailer } from '../ports/host.js'
import type { RiskScorer, SessionRiskScorer } from '../ports/risk-scorers.js'
import type { Surface } from '../ports/surface.js'

/** What the rooms of one surface are given beside its context. */
export interface SurfaceParts extends SharedPasswordServices {
  readonly adminStepUp: boolean
  readonly authorizer: Authorizer
  readonly config: ConfigAdministration
  readonly keys: SigningKeys
  readonly tokenMemo: TokenMemo
  readonly limits: RateLimiter
  readonly links: Links
  readonly mailer: Mailer
  readonly providers: ProviderClients
  readonly riskScorer: RiskScorer
  readonly sessionRiskScorer: SessionRiskScorer | null
}

export interface SurfaceServices {
  readonly services: Services
  readonly users: Users
  readonly registrations: Registrations
  readonly roles: Roles
  readonly identities: IdentityAdministration
  readonly serviceAccounts: ServiceAccountAdministration
  readonly sessions: SessionAdministration
  readonly allSessions: AllSessionsTermination
  readonly tokens: Tokens
  readonly mfaReset: MfaReset
  readonly deletions: AccountDeletions
  readonly notices: EnrollmentNotices
  readonly reencryptTotp: () => Promise<Reencryption>
}

/**
 * Builds the rooms of one surface, the lowest first: each is given what it needs of those before it.
 * `surfaceOf` is asked once requests are served: operators administer accounts of both.
 */
export function createSurfaceServices(
  context: SurfaceContext,
  parts: SurfaceParts,
  surfaceOf: (surface: Surface) => SurfaceServices,
): SurfaceServices {
  const sessions = assembleSessions(context, parts)
  const intents = assembleIntents(context, { ...parts, tokens: sessions.tokens }, sessions.sessions)
  const mail = assembleMail(context, parts)
  const passwords = assemblePasswords(context, { ...parts, ...sessions, ...mail, ...intents })
  const factors = assembleFactors(context, {
    ...{ ...parts, ...mail, ...passwords, ...intents },
    sessions: sessions.sessions,
  })
  const below = { ...parts, ...sessions, ...intents, ...mail, ...passwords, ...factors }
  const login = assembleLogin(context, below)
  const oauth = assembleOauth(context, { ...below, ...login })
  const passkeys = assemblePasskeys(context, { ...below, ...login })
  const accounts = assembleAccounts(context, { ...below, ...login, ...oauth })
  const serviceAccounts = assembleServiceAccounts(context, { ...below, ...accounts })
  const authorization = assembleAuthorization(context, below)
  const { adminStepUp, limits, config, keys } = parts
  const { notices, reencryptTotp } = factors
  return {
    ...{ ...accounts, ...authorization, tokens: sessions.tokens, notices, reencryptTotp },
    identities: oauth.identityAdministration,
    serviceAccounts: serviceAccounts.serviceAccountAdministration,
    sessions: sessions.sessionAdministration,
    allSessions: sessions.allSessions,
    services: {
      ...{ ...sessions, ...passwords, ...factors, ...login, ...oauth, ...passkeys, ...accounts },
      ...{ ...serviceAccounts, ...authorization, limits, config, adminStepUp },
      mailsOn: (surface) => surfaceOf(surface).services,
      mfaReset: (surface) => surfaceOf(surface).mfaReset,
      settings: context.settings,
      pageOptions: createPageOptions(context, oauth.oauth),
      jwks: async () => (await keys.ring()).jwks(),
    },
  }
}
