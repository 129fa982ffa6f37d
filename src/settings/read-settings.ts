import { accessTokenTtl } from './access-token-ttl.js'
import {
  breachCheckModes,
  deletionModes,
  mfaPolicies,
  sameSiteValues,
  userVerifications,
  webauthnModes,
} from './choices.js'
import { allowedDomains, redirectTargets, securityWebhooks } from './list-settings.js'
import type { AuthSettings } from './settings.js'
import { type SettingsReader, settingsReader } from './settings-reader.js'

export interface AuthSettingsReading {
  readonly settings: AuthSettings
  /** What was out of range or unreadable, for the host's log. The same at every reading. */
  readonly warnings: readonly string[]
}

type Values = Readonly<Record<string, string>>
type Warn = (message: string) => void

/**
 * The settings in force. `values` is the flat map of stored texts, secrets decrypted; `env` is
 * asked for `JWT_ACCESS_TOKEN_EXPIRY` alone. Never throws: whatever is stored, each setting has a
 * value of its type, in its range.
 *
 * A key that is absent and one that is present but empty differ for one setting only:
 * `sessionAbsoluteTTL` absent is 30 days, empty is no cap.
 */
export function readAuthSettings(
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): AuthSettingsReading {
  const warnings: string[] = []
  const warn = (message: string) => {
    warnings.push(message)
  }
  const reader = settingsReader(values, warn)
  const settings: AuthSettings = {
    ...registration(reader, warn),
    ...loginAndSessions(reader, values, env['JWT_ACCESS_TOKEN_EXPIRY'], warn),
    ...passwordPolicy(reader),
    ...mfa(reader),
    ...oauthProviders(reader, warn),
    ...antiAbuse(reader, warn),
    ...sessionsAndAccount(reader),
  }
  return { settings, warnings }
}

function registration(read: SettingsReader, warn: Warn) {
  return {
    registrationOperatorEnabled: read.bool('registrationOperatorEnabled'),
    registrationClientEnabled: read.bool('registrationClientEnabled'),
    registrationAllowedDomains: allowedDomains(read.list('registrationAllowedDomains'), warn),
    registrationTermsVersion: read.text('registrationTermsVersion'),
    emailVerificationRequired: read.bool('emailVerificationRequired'),
    emailVerificationTTL: read.duration('emailVerificationTTL'),
  }
}

function loginAndSessions(
  read: SettingsReader,
  values: Values,
  accessTokenExpiry: string | undefined,
  warn: Warn,
) {
  return {
    passwordLoginOperatorEnabled: read.bool('passwordLoginOperatorEnabled'),
    passwordLoginClientEnabled: read.bool('passwordLoginClientEnabled'),
    accessTokenTTL: accessTokenTtl(values['accessTokenTTL'], accessTokenExpiry, warn),
    sessionAbsoluteTTL:
      values['sessionAbsoluteTTL'] === '' ? null : read.duration('sessionAbsoluteTTL'),
    refreshReuseGrace: read.duration('refreshReuseGrace'),
    cookieSameSite: read.choice('cookieSameSite', sameSiteValues),
  }
}

function passwordPolicy(read: SettingsReader) {
  return {
    passwordMinLength: read.int('passwordMinLength'),
    passwordBreachCheck: read.choice('passwordBreachCheck', breachCheckModes),
    passwordBlockCommon: read.bool('passwordBlockCommon'),
    passwordBlockContextual: read.bool('passwordBlockContextual'),
    passwordHistoryCount: read.int('passwordHistoryCount'),
    passwordMaxAge: read.durationOrNone('passwordMaxAge'),
  }
}

function mfa(read: SettingsReader) {
  return {
    mfaPolicyOperator: read.choice('mfaPolicyOperator', mfaPolicies),
    mfaPolicyClient: read.choice('mfaPolicyClient', mfaPolicies),
    totpEnabled: read.bool('totpEnabled'),
    totpIssuer: read.text('totpIssuer'),
    totpSkewSteps: read.int('totpSkewSteps'),
    backupCodeCount: read.int('backupCodeCount'),
    webauthnMode: read.choice('webauthnMode', webauthnModes),
    webauthnUserVerification: read.choice('webauthnUserVerification', userVerifications),
    mfaMaxAttempts: read.int('mfaMaxAttempts'),
    stepUpMaxAge: read.duration('stepUpMaxAge'),
    trustedDeviceOperatorEnabled: read.bool('trustedDeviceOperatorEnabled'),
    trustedDeviceClientEnabled: read.bool('trustedDeviceClientEnabled'),
    trustedDeviceTTL: read.duration('trustedDeviceTTL'),
  }
}

function oauthProviders(read: SettingsReader, warn: Warn) {
  return {
    oauthRedirectTargets: redirectTargets(read.list('oauthRedirectTargets'), warn),
    googleOperatorEnabled: read.bool('googleOperatorEnabled'),
    googleClientEnabled: read.bool('googleClientEnabled'),
    googleClientId: read.text('googleClientId'),
    googleClientSecret: read.secret('googleClientSecret'),
    microsoftOperatorEnabled: read.bool('microsoftOperatorEnabled'),
    microsoftClientEnabled: read.bool('microsoftClientEnabled'),
    microsoftClientId: read.text('microsoftClientId'),
    microsoftClientSecret: read.secret('microsoftClientSecret'),
    // The default admits every tenant; a damaged value must not.
    microsoftTenant: read.textOrNothing('microsoftTenant'),
    appleOperatorEnabled: read.bool('appleOperatorEnabled'),
    appleClientEnabled: read.bool('appleClientEnabled'),
    appleServicesId: read.text('appleServicesId'),
    appleTeamId: read.text('appleTeamId'),
    appleKeyId: read.text('appleKeyId'),
    applePrivateKey: read.secret('applePrivateKey'),
    githubOperatorEnabled: read.bool('githubOperatorEnabled'),
    githubClientEnabled: read.bool('githubClientEnabled'),
    githubClientId: read.text('githubClientId'),
    githubClientSecret: read.secret('githubClientSecret'),
  }
}

function antiAbuse(read: SettingsReader, warn: Warn) {
  return {
    loginRateOperator: read.int('loginRateOperator'),
    loginRateClient: read.int('loginRateClient'),
    lockoutThreshold: read.int('lockoutThreshold'),
    lockoutDuration: read.duration('lockoutDuration'),
    grantFailuresPerIp: read.int('grantFailuresPerIp'),
    grantFailuresPerClient: read.int('grantFailuresPerClient'),
    notifyNewDevice: read.bool('notifyNewDevice'),
    notifySecurityChanges: read.bool('notifySecurityChanges'),
    securityWebhooks: securityWebhooks(read.list('securityWebhooks'), warn),
  }
}

function sessionsAndAccount(read: SettingsReader) {
  return {
    maxConcurrentSessions: read.int('maxConcurrentSessions'),
    revokeSessionsOnPasswordChange: read.bool('revokeSessionsOnPasswordChange'),
    accountDeletionMode: read.choice('accountDeletionMode', deletionModes),
  }
}
