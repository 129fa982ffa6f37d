import { day, type FirstValues, type Settings, settingsIn } from './setting.js'

const breachChecks = ['off', 'failOpen', 'failClosed'] as const

export interface PasswordPolicySettings {
  /** Code points, after NFC. */
  readonly passwordMinLength: number
  readonly passwordBreachCheck: (typeof breachChecks)[number]
  readonly passwordBlockCommon: boolean
  readonly passwordBlockContextual: boolean
  readonly passwordHistoryCount: number
  /** Passwords that do not expire are null here, and an empty text as a first value. */
  readonly passwordMaxAge: number | null
}

export type InitialPasswordPolicy = FirstValues<PasswordPolicySettings>

const { bool, choice, durationOrNone, int } = settingsIn('Password Policy')

export const passwordPolicy: Settings<PasswordPolicySettings> = {
  passwordMinLength: int({ label: 'Minimum length', default: '15', min: 8, max: 128 }),
  passwordBreachCheck: choice(breachChecks, {
    label: 'Check passwords against known breaches',
    // A library makes no outbound call unasked.
    default: 'off',
  }),
  passwordBlockCommon: bool({ label: 'Block common passwords', default: 'true' }),
  passwordBlockContextual: bool({ label: 'Block name/e-mail parts', default: 'true' }),
  passwordHistoryCount: int({ label: 'Remembered passwords', default: '5', min: 0, max: 24 }),
  passwordMaxAge: durationOrNone({ label: 'Password expiry', min: day, max: 730 * day }),
}
