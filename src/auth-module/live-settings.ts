import type { InitialSettings } from './initial-settings.js'
import type { SettingKey } from './settings.js'

/**
 * The settings of features that exist: whatever is stored of them is in force within 30 seconds. The
 * others are accepted, kept, and have no effect yet.
 */
const live: readonly SettingKey[] = [
  'registrationOperatorEnabled',
  'registrationClientEnabled',
  'registrationAllowedDomains',
  'registrationTermsVersion',
  'emailVerificationRequired',
  'emailVerificationTTL',
  'passwordLoginOperatorEnabled',
  'passwordLoginClientEnabled',
  'accessTokenTTL',
  'sessionAbsoluteTTL',
  'refreshReuseGrace',
  'cookieSameSite',
  'passwordMinLength',
  'passwordBreachCheck',
  'passwordBlockCommon',
  'passwordBlockContextual',
  'passwordHistoryCount',
  'passwordMaxAge',
  'mfaPolicyOperator',
  'mfaPolicyClient',
  'totpEnabled',
  'totpIssuer',
  'totpSkewSteps',
  'backupCodeCount',
  'webauthnMode',
  'webauthnUserVerification',
  'mfaMaxAttempts',
  'stepUpMaxAge',
  'trustedDeviceOperatorEnabled',
  'trustedDeviceClientEnabled',
  'trustedDeviceTTL',
  'oauthRedirectTargets',
  'googleOperatorEnabled',
  'googleClientEnabled',
  'googleClientId',
  'googleClientSecret',
  'microsoftOperatorEnabled',
  'microsoftClientEnabled',
  'microsoftClientId',
  'microsoftClientSecret',
  'microsoftTenant',
  'appleOperatorEnabled',
  'appleClientEnabled',
  'appleServicesId',
  'appleTeamId',
  'appleKeyId',
  'applePrivateKey',
  'githubOperatorEnabled',
  'githubClientEnabled',
  'githubClientId',
  'githubClientSecret',
  'loginRateOperator',
  'loginRateClient',
  'lockoutThreshold',
  'lockoutDuration',
  'grantFailuresPerIp',
  'grantFailuresPerClient',
  'notifyNewDevice',
  'notifySecurityChanges',
  'securityWebhooks',
  'maxConcurrentSessions',
  'revokeSessionsOnPasswordChange',
]

/** The keys a host set whose feature is still to come: nobody should believe that they are on. */
export function settingsWithoutEffect(given: InitialSettings): readonly string[] {
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return set.map(([key]) => key).filter((key) => !live.some((known) => known === key))
}
