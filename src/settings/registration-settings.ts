import { FieldBool, FieldSelect, FieldString } from '../engine/configuration/config-declaration.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import {
  day,
  type FirstValues,
  type InitialElement,
  minute,
  type RecordList,
  type Settings,
  settingsIn,
} from './setting.js'

const surfaces = ['operator', 'client', 'both'] as const

/** An e-mail domain whose addresses may register. */
export interface InitialAllowedDomain extends InitialElement {
  /** Read in lower case. An empty domain (a damaged entry) matches no address: it never opens. */
  readonly domain: string
  readonly surface: (typeof surfaces)[number]
  readonly includeSubdomains?: boolean
}

export type AllowedDomain = Required<InitialAllowedDomain>

const allowedDomains: RecordList<AllowedDomain> = {
  items: [
    { key: 'domain', label: 'Domain', type: FieldString, required: true, max: 253 },
    { key: 'surface', label: 'Surface', type: FieldSelect, required: true, options: surfaces },
    { key: 'includeSubdomains', label: 'Include subdomains', type: FieldBool },
  ],
  item: 'domain',
  code: 'auth.value_out_of_range',
  problem(text) {
    if (text.includes('*')) return "must have no '*': includeSubdomains admits the subdomains"
    if (/[^!-~\s]/.test(text))
      return "must be in ASCII: write 'xn--bcher-kva.example' for 'bücher.example'"
    return /^[^\s@/.][^\s@/]*$/.test(text) ? null : "must be a domain such as 'example.org'"
  },

  // A damaged entry stays, matching no address: were it left out, a list of damaged entries would be
  // an empty list, and that opens registration to every domain.
  read(element, warn) {
    const { slug, label } = element
    const domain = element['domain'] ?? ''
    const surface = readChoice(surfaces, element['surface'] ?? '')?.value
    if (domain === '' || surface === undefined) {
      warn('it matches no address')
      return [{ slug, label, domain: '', surface: 'both', includeSubdomains: false }]
    }
    const includeSubdomains = element['includeSubdomains'] === 'true'
    return [{ slug, label, domain: domain.toLowerCase(), surface, includeSubdomains }]
  },
}

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
