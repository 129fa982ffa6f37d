import { type AllowedDomain, allowedDomains, type InitialAllowedDomain } from './allowed-domains.js'
import { day, type FirstValues, minute, type Settings } from './setting.js'
import { settingsIn } from './settings-in.js'

export interface RegistrationSettings {
  readonly registrationOperatorEnabled: boolean
  readonly registrationClientEnabled: boolean
  /** Empty for a surface = any domain may register there. */
  readonly registrationAllowedDomains: readonly AllowedDomain[]
  /** Empty = no terms have to be accepted. */
  readonly registrationTermsVersion: string
  readonly emailVerificationRequired: boolean
  readonly emailVerificationTTL: number
}

export interface InitialRegistration
  extends FirstValues<Omit<RegistrationSettings, 'registrationAllowedDomains'>> {
  readonly registrationAllowedDomains?: readonly InitialAllowedDomain[]
}

const { bool, duration, list, text } = settingsIn('Registration')

export const registration: Settings<RegistrationSettings> = {
  registrationOperatorEnabled: bool({
    label: 'Allow operator registration',
    default: 'false',
    surface: 'operator',
  }),
  registrationClientEnabled: bool({
    label: 'Allow client registration',
    default: 'true',
    surface: 'client',
  }),
  registrationAllowedDomains: list({ label: 'Allowed e-mail domains', max: 50 }, allowedDomains),
  registrationTermsVersion: text({ label: 'Required terms version', max: 64 }),
  emailVerificationRequired: bool({ label: 'Require verified e-mail', default: 'true' }),
  emailVerificationTTL: duration({
    label: 'Verification link lifetime',
    default: '24h',
    min: 15 * minute,
    max: 7 * day,
  }),
}
