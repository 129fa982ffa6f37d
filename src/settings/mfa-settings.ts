import { day, type FirstValues, hour, minute, type Settings, settingsIn } from './setting.js'

const policies = ['off', 'optional', 'required'] as const
const passkeyModes = ['off', 'secondFactor', 'passwordless'] as const
const userVerifications = ['required', 'preferred'] as const

export interface MfaSettings {
  readonly mfaPolicyOperator: (typeof policies)[number]
  readonly mfaPolicyClient: (typeof policies)[number]
  readonly totpEnabled: boolean
  readonly totpIssuer: string
  /** Time steps accepted before and after the current one. */
  readonly totpSkewSteps: number
  readonly backupCodeCount: number
  readonly webauthnMode: (typeof passkeyModes)[number]
  readonly webauthnUserVerification: (typeof userVerifications)[number]
  readonly mfaMaxAttempts: number
  readonly stepUpMaxAge: number
  readonly trustedDeviceOperatorEnabled: boolean
  readonly trustedDeviceClientEnabled: boolean
  readonly trustedDeviceTTL: number
}

export type InitialMfa = FirstValues<MfaSettings>

const { bool, choice, duration, int, text } = settingsIn('MFA')

export const mfa: Settings<MfaSettings> = {
  mfaPolicyOperator: choice(policies, {
    label: 'Operator MFA policy',
    default: 'optional',
    surface: 'operator',
  }),
  mfaPolicyClient: choice(policies, {
    label: 'Client MFA policy',
    default: 'optional',
    surface: 'client',
  }),
  totpEnabled: bool({ label: 'Allow TOTP', default: 'true' }),
  totpIssuer: text({ label: 'TOTP issuer name', default: 'Auth', min: 1, max: 64 }),
  totpSkewSteps: int({ label: 'TOTP clock tolerance', default: '1', min: 0, max: 2 }),
  backupCodeCount: int({ label: 'Backup codes', default: '10', min: 5, max: 20 }),
  webauthnMode: choice(passkeyModes, { label: 'Passkeys', default: 'secondFactor' }),
  webauthnUserVerification: choice(userVerifications, {
    label: 'User verification',
    default: 'required',
  }),
  mfaMaxAttempts: int({ label: 'Wrong codes per challenge', default: '5', min: 3, max: 10 }),
  stepUpMaxAge: duration({ label: 'Step-up validity', default: '15m', min: minute, max: hour }),
  trustedDeviceOperatorEnabled: bool({
    label: 'Operator trusted devices',
    default: 'false',
    surface: 'operator',
  }),
  trustedDeviceClientEnabled: bool({
    label: 'Client trusted devices',
    default: 'true',
    surface: 'client',
  }),
  trustedDeviceTTL: duration({ label: 'Trust duration', default: '30d', min: day, max: 90 * day }),
}
