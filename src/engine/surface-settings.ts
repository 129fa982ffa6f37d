import type { DomainRule } from './addresses.js'

interface DomainRuleOfSurface extends DomainRule {
  readonly surface: 'operator' | 'client' | 'both'
}

type MfaPolicy = 'off' | 'optional' | 'required'

/** The settings that exist once per surface; a structural part of all settings. */
export interface SettingsOfBoth {
  readonly registrationOperatorEnabled: boolean
  readonly registrationClientEnabled: boolean
  readonly passwordLoginOperatorEnabled: boolean
  readonly passwordLoginClientEnabled: boolean
  readonly loginRateOperator: number
  readonly loginRateClient: number
  readonly registrationAllowedDomains: readonly DomainRuleOfSurface[]
  readonly mfaPolicyOperator: MfaPolicy
  readonly mfaPolicyClient: MfaPolicy
  readonly trustedDeviceOperatorEnabled: boolean
  readonly trustedDeviceClientEnabled: boolean
  readonly accountDeletionMode: 'off' | 'client' | 'both'
}

/** The same for one of the surfaces. */
export interface SurfaceSettings {
  readonly registrationEnabled: boolean
  readonly passwordLoginEnabled: boolean
  /** Logins per minute and source address. */
  readonly loginRate: number
  readonly allowedDomains: readonly DomainRule[]
  readonly mfaPolicy: MfaPolicy
  readonly trustedDeviceEnabled: boolean
  /** Whether people may delete their own account. */
  readonly accountDeletionEnabled: boolean
}

export function settingsFor(
  surface: 'operator' | 'client',
  settings: SettingsOfBoth,
): SurfaceSettings {
  const allowedDomains = settings.registrationAllowedDomains.filter(
    (rule) => rule.surface === 'both' || rule.surface === surface,
  )
  return surface === 'operator'
    ? {
        registrationEnabled: settings.registrationOperatorEnabled,
        passwordLoginEnabled: settings.passwordLoginOperatorEnabled,
        loginRate: settings.loginRateOperator,
        allowedDomains,
        mfaPolicy: settings.mfaPolicyOperator,
        trustedDeviceEnabled: settings.trustedDeviceOperatorEnabled,
        accountDeletionEnabled: settings.accountDeletionMode === 'both',
      }
    : {
        registrationEnabled: settings.registrationClientEnabled,
        passwordLoginEnabled: settings.passwordLoginClientEnabled,
        loginRate: settings.loginRateClient,
        allowedDomains,
        mfaPolicy: settings.mfaPolicyClient,
        trustedDeviceEnabled: settings.trustedDeviceClientEnabled,
        accountDeletionEnabled: settings.accountDeletionMode !== 'off',
      }
}

/**
 * The audiences whose access tokens a surface lets in. Service accounts therefore
 * reach the operator surface and nothing else.
 */
export const acceptedAudiences = {
  operator: ['operator', 'service'],
  client: ['client'],
} as const
