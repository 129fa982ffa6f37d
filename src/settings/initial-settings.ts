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

interface InitialElement {
  /** Names the element for good: lower-case words joined by hyphens, at most 63 characters. */
  readonly slug: string
  /** Shown to administrators; the slug when left out. */
  readonly label?: string
}

export interface InitialAllowedDomain extends InitialElement {
  readonly domain: string
  readonly surface: AnySurface
  readonly includeSubdomains?: boolean
}

export interface InitialRedirectTarget extends InitialElement {
  readonly uri: string
  readonly surface: OneSurface
  readonly flow: RedirectFlow
  /** Required for `mobile`. */
  readonly appId?: string
}

export interface InitialSecurityWebhook extends InitialElement {
  /** `https:` only. */
  readonly url: string
  readonly signingSecret: string
  readonly events: WebhookEvents
}

/**
 * First values of the `auth` module's settings: stored at a start for keys nobody gave a value yet.
 * They never override what is stored. Durations are texts such as `'10s'` or `'30d'`.
 */
export interface InitialSettings {
  readonly registrationOperatorEnabled?: boolean
  readonly registrationClientEnabled?: boolean
  readonly registrationAllowedDomains?: readonly InitialAllowedDomain[]
  readonly registrationTermsVersion?: string
  readonly emailVerificationRequired?: boolean
  readonly emailVerificationTTL?: string

  readonly passwordLoginOperatorEnabled?: boolean
  readonly passwordLoginClientEnabled?: boolean
  /** At least `'1m'`; more than `'24h'` acts as 24 hours. */
  readonly accessTokenTTL?: string
  /** `'1h'` to `'89d'`; `''` switches the cap off. */
  readonly sessionAbsoluteTTL?: string
  /** `'0s'` to `'60s'`. */
  readonly refreshReuseGrace?: string
  readonly cookieSameSite?: SameSite

  readonly passwordMinLength?: number
  readonly passwordBreachCheck?: BreachCheckMode
  readonly passwordBlockCommon?: boolean
  readonly passwordBlockContextual?: boolean
  readonly passwordHistoryCount?: number
  /** `''` = passwords do not expire. */
  readonly passwordMaxAge?: string

  readonly mfaPolicyOperator?: MfaPolicy
  readonly mfaPolicyClient?: MfaPolicy
  readonly totpEnabled?: boolean
  readonly totpIssuer?: string
  readonly totpSkewSteps?: number
  readonly backupCodeCount?: number
  readonly webauthnMode?: WebauthnMode
  readonly webauthnUserVerification?: UserVerification
  readonly mfaMaxAttempts?: number
  readonly stepUpMaxAge?: string
  readonly trustedDeviceOperatorEnabled?: boolean
  readonly trustedDeviceClientEnabled?: boolean
  readonly trustedDeviceTTL?: string

  readonly oauthRedirectTargets?: readonly InitialRedirectTarget[]
  readonly googleOperatorEnabled?: boolean
  readonly googleClientEnabled?: boolean
  readonly googleClientId?: string
  readonly googleClientSecret?: string
  readonly microsoftOperatorEnabled?: boolean
  readonly microsoftClientEnabled?: boolean
  readonly microsoftClientId?: string
  readonly microsoftClientSecret?: string
  readonly microsoftTenant?: string
  readonly appleOperatorEnabled?: boolean
  readonly appleClientEnabled?: boolean
  readonly appleServicesId?: string
  readonly appleTeamId?: string
  readonly appleKeyId?: string
  readonly applePrivateKey?: string
  readonly githubOperatorEnabled?: boolean
  readonly githubClientEnabled?: boolean
  readonly githubClientId?: string
  readonly githubClientSecret?: string

  readonly loginRateOperator?: number
  readonly loginRateClient?: number
  /** 0 = no lockout, else 3 to 100. */
  readonly lockoutThreshold?: number
  readonly lockoutDuration?: string
  readonly grantFailuresPerIp?: number
  readonly grantFailuresPerClient?: number
  readonly notifyNewDevice?: boolean
  readonly notifySecurityChanges?: boolean
  readonly securityWebhooks?: readonly InitialSecurityWebhook[]

  /** 0 = unlimited. */
  readonly maxConcurrentSessions?: number
  readonly revokeSessionsOnPasswordChange?: boolean
  readonly accountDeletionMode?: DeletionMode
}
