import { type FirstValues, type Settings, settingsIn } from './setting.js'

const deletionModes = ['off', 'client', 'both'] as const

export interface SessionAndAccountSettings {
  /** 0 = unlimited. */
  readonly maxConcurrentSessions: number
  readonly revokeSessionsOnPasswordChange: boolean
  readonly accountDeletionMode: (typeof deletionModes)[number]
}

export type InitialSessionsAndAccount = FirstValues<SessionAndAccountSettings>

const { bool, choice, int } = settingsIn('Sessions & Account')

export const sessionsAndAccount: Settings<SessionAndAccountSettings> = {
  maxConcurrentSessions: int({ label: 'Sessions per user', default: '0', min: 0, max: 100 }),
  revokeSessionsOnPasswordChange: bool({
    label: 'End other sessions on password change',
    default: 'true',
  }),
  accountDeletionMode: choice(deletionModes, { label: 'Self-deletion', default: 'client' }),
}
