import type { ProviderId } from '../../../src/identity-providers/providers.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { SettingKey } from '../../../src/settings/settings.js'

/** By the key of a setting, or of an element of a list. */
type Texts = Readonly<Record<string, string>>

/** A way to set the settings of a surface that shuts doors, or makes them ask for more. */
export interface Switch {
  /** Stored past the validators, as another process would find it. */
  readonly set: (surface: Surface) => Texts
}

const own = (surface: Surface, operator: SettingKey, client: SettingKey, text: string): Texts => ({
  [surface === 'operator' ? operator : client]: text,
})

const providerOff = (provider: ProviderId): Switch => ({
  set: (surface) => own(surface, `${provider}OperatorEnabled`, `${provider}ClientEnabled`, 'false'),
})

const policy = (text: 'off' | 'required'): Switch => ({
  set: (surface) => own(surface, 'mfaPolicyOperator', 'mfaPolicyClient', text),
})

/** By name, as the rows of the doors name them. */
export const switches = {
  'registration off': {
    set: (surface) =>
      own(surface, 'registrationOperatorEnabled', 'registrationClientEnabled', 'false'),
  },
  'terms demanded': { set: () => ({ registrationTermsVersion: '2' }) },
  'domains listed': {
    set: () => ({
      'registrationAllowedDomains.__items': 'only',
      'registrationAllowedDomains.only.domain': 'elsewhere.example',
      'registrationAllowedDomains.only.surface': 'both',
    }),
  },
  'verification demanded': { set: () => ({ emailVerificationRequired: 'true' }) },
  'passwords off': {
    set: (surface) =>
      own(surface, 'passwordLoginOperatorEnabled', 'passwordLoginClientEnabled', 'false'),
  },
  'google off': providerOff('google'),
  'microsoft off': providerOff('microsoft'),
  'apple off': providerOff('apple'),
  'github off': providerOff('github'),
  'factors off': policy('off'),
  'factors required': policy('required'),
  'apps off': { set: () => ({ totpEnabled: 'false' }) },
  'passkeys off': { set: () => ({ webauthnMode: 'off' }) },
  'apps and passkeys off': { set: () => ({ totpEnabled: 'false', webauthnMode: 'off' }) },
  'passkeys second only': { set: () => ({ webauthnMode: 'secondFactor' }) },
  'trusted devices off': {
    set: (surface) =>
      own(surface, 'trustedDeviceOperatorEnabled', 'trustedDeviceClientEnabled', 'false'),
  },
  'deletion off': { set: () => ({ accountDeletionMode: 'off' }) },
} as const satisfies Readonly<Record<string, Switch>>

export type SwitchName = keyof typeof switches
