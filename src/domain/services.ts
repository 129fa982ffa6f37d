import type { AuthSettings } from '../auth-module/settings.js'
import type { PublicJwk } from '../crypto/ring-key.js'
import type { Access } from './access.js'
import type { ConfigAdministration } from './config-store.js'
import type { Limits } from './limits.js'
import type { Login } from './login.js'
import type { Logout } from './logout.js'
import type { Mfa } from './mfa.js'
import type { PasswordRecovery } from './password-recovery.js'
import type { Profile } from './profile.js'
import type { Refresh } from './refresh.js'
import type { Registration } from './registration.js'
import type { StepUp } from './step-up.js'

/** Everything the operations of one surface may call. */
export interface Services {
  readonly registration: Registration
  readonly login: Login
  readonly logout: Logout
  readonly refresh: Refresh
  readonly passwordRecovery: PasswordRecovery
  readonly profile: Profile
  readonly mfa: Mfa
  readonly stepUp: StepUp
  readonly access: Access
  readonly limits: Limits
  readonly settings: () => Promise<AuthSettings>
  readonly config: ConfigAdministration
  readonly jwks: () => Promise<{ readonly keys: readonly PublicJwk[] }>
}

/** What operations and the HTTP layer name of the services, in one place. */
export type { AccessClaims } from '../crypto/verify-token.js'
export type { Surface } from '../ports/surface.js'
export type { ConfigRevision } from './config-history.js'
export type { RateLimitName } from './limits.js'
export type { LoginResult } from './login-pipeline.js'
export type { DeliveredLogin, Enrollee, Mfa, MfaStatus, TotpConfirmation } from './mfa.js'
export type { Occasion } from './occasion.js'
export type { Admitted, SignedIn } from './principal.js'
export type { Refreshed, SessionView } from './refresh.js'
export type { RegistrationResult } from './registration.js'
export type { CodeMethod } from './second-factors.js'
export type { OpenedSession } from './sessions.js'
export type { RefreshGrant } from './tokens.js'
