import { accessTokenTTL } from './access-token-ttl.js'
import { day, type FirstValues, hour, minute, type Settings } from './setting.js'
import { settingsIn } from './settings-in.js'

const sameSites = ['strict', 'lax', 'none'] as const

export interface LoginAndSessionSettings {
  readonly passwordLoginOperatorEnabled: boolean
  readonly passwordLoginClientEnabled: boolean
  /** At least a minute; more than 24 hours acts as 24 hours. */
  readonly accessTokenTTL: number
  /** 1 hour to 89 days. No cap is null here, and an empty text as a first value. */
  readonly sessionAbsoluteTTL: number | null
  /** Up to 60 seconds; 0 = strict. */
  readonly refreshReuseGrace: number
  readonly cookieSameSite: (typeof sameSites)[number]
}

export type InitialLoginAndSessions = FirstValues<LoginAndSessionSettings>

const { bool, choice, duration } = settingsIn('Login & Sessions')

const absoluteTTL = duration({
  label: 'Absolute session lifetime',
  default: '720h',
  min: hour,
  // Below the 90 days a session document is kept: the cap can always be judged.
  max: 89 * day,
})

export const loginAndSessions: Settings<LoginAndSessionSettings> = {
  passwordLoginOperatorEnabled: bool({
    label: 'Operator password login',
    default: 'true',
    surface: 'operator',
  }),
  passwordLoginClientEnabled: bool({
    label: 'Client password login',
    default: 'true',
    surface: 'client',
  }),
  accessTokenTTL,
  sessionAbsoluteTTL: {
    ...absoluteTTL,
    code: 'session_absolute_ttl_out_of_range',
    // Cleared is no cap, while absent or damaged is the default.
    isSetWhenEmpty: true,
    read: (key, stored) => (stored.values[key] === '' ? null : absoluteTTL.read(key, stored)),
  },
  refreshReuseGrace: duration({
    label: 'Refresh reuse grace',
    default: '10s',
    min: 0,
    max: minute,
  }),
  cookieSameSite: choice(sameSites, { label: 'Cookie SameSite', default: 'lax' }),
}
