import { FieldBool, FieldSelect, FieldString } from '../engine/configuration/config-declaration.js'
import { readChoice } from '../engine/configuration/stored-value.js'
import type { InitialElement, RecordList } from './list-rule.js'

const surfaces = ['operator', 'client', 'both'] as const

/** An e-mail domain whose addresses may register. */
export interface InitialAllowedDomain extends InitialElement {
  /** Read in lower case. An empty domain (a damaged entry) matches no address: it never opens. */
  readonly domain: string
  readonly surface: (typeof surfaces)[number]
  readonly includeSubdomains?: boolean
}

export type AllowedDomain = Required<InitialAllowedDomain>

export const allowedDomains: RecordList<AllowedDomain> = {
  items: [
    { key: 'domain', label: 'Domain', type: FieldString, required: true, max: 253 },
    { key: 'surface', label: 'Surface', type: FieldSelect, required: true, options: surfaces },
    { key: 'includeSubdomains', label: 'Include subdomains', type: FieldBool },
  ],
  item: 'domain',
  code: 'auth.value_out_of_range',
  problem(text) {
    if (text.includes('*')) return "must have no '*': includeSubdomains admits the subdomains"
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
