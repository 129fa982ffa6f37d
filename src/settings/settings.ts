import type { FieldDeclaration } from '../engine/configuration/config-declaration.js'
import { type AntiAbuseSettings, antiAbuse, type InitialAntiAbuse } from './anti-abuse-settings.js'
import {
  type InitialLoginAndSessions,
  type LoginAndSessionSettings,
  loginAndSessions,
} from './login-and-sessions-settings.js'
import { type InitialMfa, type MfaSettings, mfa } from './mfa-settings.js'
import {
  type InitialOauthProviders,
  type OauthProviderSettings,
  oauthProviders,
} from './oauth-providers.js'
import {
  type InitialPasswordPolicy,
  type PasswordPolicySettings,
  passwordPolicy,
} from './password-policy-settings.js'
import {
  type InitialRegistration,
  type RegistrationSettings,
  registration,
} from './registration-settings.js'
import {
  type InitialSessionsAndAccount,
  type SessionAndAccountSettings,
  sessionsAndAccount,
} from './sessions-and-account-settings.js'
import type { Setting, Settings, StoredSettings } from './setting.js'

/**
 * The settings of the `auth` module, ready for use. Durations (`…TTL`, `…MaxAge`, `…Grace`,
 * `…Duration`) are milliseconds. An empty string is a setting without a value.
 */
export interface AuthSettings
  extends RegistrationSettings,
    LoginAndSessionSettings,
    PasswordPolicySettings,
    MfaSettings,
    OauthProviderSettings,
    AntiAbuseSettings,
    SessionAndAccountSettings {}

/**
 * First values of the `auth` module's settings: stored at a start for keys that have no value yet.
 * They never override what is stored. Durations are texts such as `'10s'` or `'30d'`.
 */
export interface InitialSettings
  extends InitialRegistration,
    InitialLoginAndSessions,
    InitialPasswordPolicy,
    InitialMfa,
    InitialOauthProviders,
    InitialAntiAbuse,
    InitialSessionsAndAccount {}

export type SettingKey = keyof AuthSettings

/** Every setting under its key, group by group. */
export const authSettings = {
  ...registration,
  ...loginAndSessions,
  ...passwordPolicy,
  ...mfa,
  ...oauthProviders,
  ...antiAbuse,
  ...sessionsAndAccount,
} satisfies Settings<AuthSettings>

/** The module's name in the configuration store. */
export const authModuleName = 'auth'

// The keys are those of `AuthSettings`, which `Object.keys` does not say.
const keys = Object.keys(authSettings) as readonly SettingKey[]

/** The 63 settings of the `auth` module, group by group. */
export const authSettingDeclarations: readonly (FieldDeclaration & { readonly key: SettingKey })[] =
  keys.map((key) => ({ key, ...authSettings[key].declaration }))

const settings = new Map<string, Setting<unknown>>(Object.entries(authSettings))

/** Undefined for a key the module does not declare. */
export function findSetting(key: string): Setting<unknown> | undefined {
  return settings.get(key)
}

export interface AuthSettingsReading {
  readonly settings: AuthSettings
  /** What was out of range or unreadable, for the host's log. The same at every reading. */
  readonly warnings: readonly string[]
}

/**
 * The settings in force. `values` is the flat map of stored texts, secrets decrypted; `env` is asked for
 * `JWT_ACCESS_TOKEN_EXPIRY` and `MICROSOFT_TENANT_ID`. Never throws: whatever is stored, each setting has a value
 * of its type, in its range.
 *
 * A key that is absent and one that is present but empty differ for one setting only:
 * `sessionAbsoluteTTL` absent is 30 days, empty is no cap.
 */
export function readAuthSettings(
  values: StoredSettings['values'],
  env: StoredSettings['env'],
): AuthSettingsReading {
  const warnings: string[] = []
  const warn = (message: string) => {
    warnings.push(message)
  }
  const stored = { values, env, warn }
  const read = Object.entries(authSettings).map(([key, setting]) => [
    key,
    setting.read(key, stored),
  ])
  // The keys and types are those that `authSettings` is checked for, which a map does not show.
  return { settings: Object.fromEntries(read) as AuthSettings, warnings }
}
