import type {
  AnySurface,
  BreachCheckMode,
  DeletionMode,
  MfaPolicy,
  OneSurface,
  RedirectFlow,
  SameSite,
  UserVerification,
  WebauthnMode,
  WebhookEvents,
} from './choices.js'

/** An e-mail domain whose addresses may register. */
export interface AllowedDomain {
  readonly slug: string
  readonly label: string
  /** Lower case. An empty domain (a damaged entry) matches no address: it closes, never opens. */
  readonly domain: string
  readonly surface: AnySurface
  readonly includeSubdomains: boolean
}

/** An address an OAuth flow may send the browser or the app back to. */
export interface RedirectTarget {
  readonly slug: string
  readonly label: string
  /** Compared character by character. */
  readonly uri: string
  readonly surface: OneSurface
  readonly flow: RedirectFlow
  /** The app's id for `mobile`; empty for `web`. */
  readonly appId: string
}

/** A host's endpoint that is told of security events. */
export interface SecurityWebhook {
  readonly slug: string
  readonly label: string
  readonly url: string
  readonly signingSecret: string
  readonly events: WebhookEvents
}

/**
 * The settings of the `auth` module, ready for use. Durations (`…TTL`, `…MaxAge`, `…Grace`,
 * `…Duration`) are milliseconds. An empty string is a setting without a value.
 */
export interface AuthSettings {
  // Registration
  readonly registrationOperatorEnabled: boolean
  readonly registrationClientEnabled: boolean
  /** Empty for a surface = any domain may register there. */
  readonly registrationAllowedDomains: readonly AllowedDomain[]
  /** Empty = no terms have to be accepted. */
  readonly registrationTermsVersion: string
  readonly emailVerificationRequired: boolean
  readonly emailVerificationTTL: number

  // Login & Sessions
  readonly passwordLoginOperatorEnabled: boolean
  readonly passwordLoginClientEnabled: boolean
  /** Resolved from the stored value, else the environment, else 15 minutes; 1 minute to 24 hours. */
  readonly accessTokenTTL: number
  /** null = no cap. */
  readonly sessionAbsoluteTTL: number | null
  /** 0 = strict. */
  readonly refreshReuseGrace: number
  readonly cookieSameSite: SameSite

  // Password Policy
  /** Code points, after NFC. */
  readonly passwordMinLength: number
  readonly passwordBreachCheck: BreachCheckMode
  readonly passwordBlockCommon: boolean
  readonly passwordBlockContextual: boolean
  readonly passwordHistoryCount: number
  /** null = passwords do not expire. */
  readonly passwordMaxAge: number | null

  // MFA
  readonly mfaPolicyOperator: MfaPolicy
  readonly mfaPolicyClient: MfaPolicy
  readonly totpEnabled: boolean
  readonly totpIssuer: string
  /** Time steps accepted before and after the current one. */
  readonly totpSkewSteps: number
  readonly backupCodeCount: number
  readonly webauthnMode: WebauthnMode
  readonly webauthnUserVerification: UserVerification
  readonly mfaMaxAttempts: number
  readonly stepUpMaxAge: number
  readonly trustedDeviceOperatorEnabled: boolean
  readonly trustedDeviceClientEnabled: boolean
  readonly trustedDeviceTTL: number

  // OAuth Providers
  readonly oauthRedirectTargets: readonly RedirectTarget[]
  readonly googleOperatorEnabled: boolean
  readonly googleClientEnabled: boolean
  readonly googleClientId: string
  readonly googleClientSecret: string
  readonly microsoftOperatorEnabled: boolean
  readonly microsoftClientEnabled: boolean
  readonly microsoftClientId: string
  readonly microsoftClientSecret: string
  /** `common`, `organizations`, `consumers` or a tenant's GUID. Empty = damaged: nobody may pass. */
  readonly microsoftTenant: string
  readonly appleOperatorEnabled: boolean
  readonly appleClientEnabled: boolean
  readonly appleServicesId: string
  readonly appleTeamId: string
  readonly appleKeyId: string
  /** PEM (PKCS #8). */
  readonly applePrivateKey: string
  readonly githubOperatorEnabled: boolean
  readonly githubClientEnabled: boolean
  readonly githubClientId: string
  readonly githubClientSecret: string

  // Anti-abuse & Notifications
  /** Per minute and source IP. */
  readonly loginRateOperator: number
  /** Per minute and source IP. */
  readonly loginRateClient: number
  /** 0 = no lockout. */
  readonly lockoutThreshold: number
  readonly lockoutDuration: number
  /** Per 5 minutes. */
  readonly grantFailuresPerIp: number
  /** Per 5 minutes. */
  readonly grantFailuresPerClient: number
  readonly notifyNewDevice: boolean
  readonly notifySecurityChanges: boolean
  readonly securityWebhooks: readonly SecurityWebhook[]

  // Sessions & Account
  /** 0 = unlimited. */
  readonly maxConcurrentSessions: number
  readonly revokeSessionsOnPasswordChange: boolean
  readonly accountDeletionMode: DeletionMode
}

export type SettingKey = keyof AuthSettings
