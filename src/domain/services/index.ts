import type { PublicJwk } from '../../crypto/key-ring.js'
import type { Surface } from '../../ports/surface.js'
import type { AuthSettings } from '../../settings/settings.js'
import type { EmailChange } from '../accounts/email-change.js'
import type { MfaReset } from '../accounts/mfa-reset.js'
import type { TaggedPageOptions } from '../accounts/page-options.js'
import type { Profile } from '../accounts/profile.js'
import type { Registration } from '../accounts/registration.js'
import type { SelfDeletion } from '../accounts/self-deletion.js'
import type { Access } from '../authorization/access.js'
import type { ConfigAdministration } from '../configuration/config-store.js'
import type { DeviceTrust } from '../factors/device-trust.js'
import type { OwnFactors } from '../factors/own-factors.js'
import type { StepUp } from '../factors/step-up.js'
import type { RateLimiter } from '../limits/rate-limiter.js'
import type { MfaLogin } from '../login/mfa-login.js'
import type { PasswordLogin } from '../login/password-login.js'
import type { OauthLinks } from '../oauth/oauth-links.js'
import type { OauthSignIn } from '../oauth/oauth-sign-in.js'
import type { OwnPasskeys } from '../passkeys/own-passkeys.js'
import type { PasskeyLogin } from '../passkeys/passkey-login.js'
import type { PasskeyRegistration } from '../passkeys/passkey-registration.js'
import type { PasskeyStepUp } from '../passkeys/passkey-step-up.js'
import type { PasswordRecovery } from '../passwords/password-recovery.js'
import type { ServiceAccounts } from '../service-accounts/service-accounts.js'
import type { ServiceGrants } from '../service-accounts/service-grants.js'
import type { TokenEndpoint } from '../service-accounts/token-endpoint.js'
import type { Logout } from '../sessions/logout.js'
import type { OwnSessions } from '../sessions/own-sessions.js'
import type { Refresh } from '../sessions/refresh.js'
import type { SessionLook } from '../sessions/session-look.js'

/** Everything the operations of one surface may call. */
export interface Services {
  readonly registration: Registration
  readonly login: PasswordLogin
  readonly logout: Logout
  readonly refresh: Refresh
  /** For the host's own pages, which few hosts have: it is loaded at its first use. Operations do not call it. */
  readonly sessionLook: () => Promise<SessionLook>
  readonly passwordRecovery: PasswordRecovery
  readonly profile: Profile
  readonly emailChange: EmailChange
  readonly selfDeletion: SelfDeletion
  readonly ownSessions: OwnSessions
  /** For either surface: operators have links mailed to clients as well. */
  readonly mailsOn: (surface: Surface) => Pick<Services, 'passwordRecovery' | 'registration'>
  readonly mfaLogin: MfaLogin
  readonly ownFactors: OwnFactors
  /** For either surface: operators reset the factors of clients as well. */
  readonly mfaReset: (surface: Surface) => MfaReset
  readonly deviceTrust: DeviceTrust
  readonly oauth: OauthSignIn
  readonly oauthLinks: OauthLinks
  readonly stepUp: StepUp
  readonly serviceAccounts: ServiceAccounts
  readonly passkeyRegistration: PasskeyRegistration
  readonly passkeyLogin: PasskeyLogin
  readonly passkeyStepUp: PasskeyStepUp
  readonly ownPasskeys: OwnPasskeys
  readonly serviceGrants: ServiceGrants
  readonly tokenEndpoint: TokenEndpoint
  readonly access: Access
  readonly limits: RateLimiter
  readonly settings: () => Promise<AuthSettings>
  /** What pages may know before a user signs in. */
  readonly pageOptions: () => Promise<TaggedPageOptions>
  readonly config: ConfigAdministration
  /** Whether people show a second factor before configuration writes. */
  readonly adminStepUp: boolean
  readonly jwks: () => Promise<{ readonly keys: readonly PublicJwk[] }>
}

/** What operations and the HTTP layer name of the services, in one place. */
export type { AccessClaims } from '../../crypto/tokens.js'
export type { RequestSource, Surface } from '../../ports/surface.js'
export type { LinkedIdentity } from '../accounts/profile.js'
export type { RegistrationResult } from '../accounts/registration.js'
export type { ConfigRevision } from '../configuration/config-history.js'
export type { Act } from '../context/actor.js'
export type { Admitted, Principal, SignedIn } from '../context/principal.js'
export type { CodeMethod } from '../factors/code-verification.js'
export type { ListedDevice } from '../factors/device-trust.js'
export type { MfaStatus } from '../factors/own-factors.js'
export type { DeviceGrant } from '../factors/trusted-devices.js'
export type { BrowserKey, BrowserKeys } from '../intents/browser-keys.js'
export type { LinkKeyGrant } from '../intents/link-offers.js'
export type { AddressLimitName, SessionLimitName } from '../limits/rate-limits.js'
export type { DeliveredLogin, LoginResult } from '../login/login-result.js'
export type { Enrollee, TotpConfirmation } from '../login/mfa-login.js'
export type { RecognitionGrant } from '../login/recognition.js'
export type { FlowCookie, Returned } from '../oauth/oauth-return.js'
export type { BrowserFlow } from '../oauth/oauth-sign-in.js'
export type { RegisteredPasskey } from '../passkeys/passkey-registration.js'
export type { ServiceAccount } from '../service-accounts/service-accounts.js'
export type { IssuedCredential } from '../service-accounts/service-credentials.js'
export type { ListedSession } from '../sessions/own-sessions.js'
export type { Refreshed, SessionView } from '../sessions/refresh.js'
export type { FoundSession, SessionLook } from '../sessions/session-look.js'
export type { AccessGrant, RefreshGrant } from '../sessions/tokens.js'
