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
import type { Settings } from './setting.js'

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
