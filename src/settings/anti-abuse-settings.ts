import { readInt } from '../engine/configuration/stored-value.js'
import {
  type InitialSecurityWebhook,
  type SecurityWebhook,
  securityWebhooks,
} from './security-webhooks.js'
import { type FirstValues, hour, minute, type Settings } from './setting.js'
import { settingsIn } from './settings-in.js'

export interface AntiAbuseSettings {
  /** Per minute and source IP. */
  readonly loginRateOperator: number
  /** Per minute and source IP. */
  readonly loginRateClient: number
  /** 0 = no lockout, else 3 to 100. */
  readonly lockoutThreshold: number
  readonly lockoutDuration: number
  /** Per 5 minutes. */
  readonly grantFailuresPerIp: number
  /** Per 5 minutes. */
  readonly grantFailuresPerClient: number
  readonly notifyNewDevice: boolean
  readonly notifySecurityChanges: boolean
  readonly securityWebhooks: readonly SecurityWebhook[]
}

export interface InitialAntiAbuse extends FirstValues<Omit<AntiAbuseSettings, 'securityWebhooks'>> {
  readonly securityWebhooks?: readonly InitialSecurityWebhook[]
}

const { bool, duration, int, list } = settingsIn('Anti-abuse & Notifications')

export const antiAbuse: Settings<AntiAbuseSettings> = {
  loginRateOperator: int({
    label: 'Operator logins per minute and IP',
    default: '20',
    min: 1,
    max: 1000,
    surface: 'operator',
  }),
  loginRateClient: int({
    label: 'Client logins per minute and IP',
    default: '60',
    min: 1,
    max: 1000,
    surface: 'client',
  }),
  lockoutThreshold: {
    ...int(
      { label: 'Failures before lockout', default: '10', min: 0, max: 100 },
      (bounds, text) => {
        const reading = readInt(bounds, text)
        // 0 switches it off; 1 and 2 are refused: a typing error would lock the account.
        const isTooLow = reading?.value === 1 || reading?.value === 2
        return isTooLow ? { value: 3, inRange: false } : reading
      },
    ),
    form: 'must be 0 (off) or a whole number from 3 to 100',
  },
  lockoutDuration: duration({
    label: 'Lockout duration',
    default: '15m',
    min: minute,
    max: 24 * hour,
  }),
  grantFailuresPerIp: int({
    label: 'Grant failures per IP / 5 min',
    default: '30',
    min: 1,
    max: 1000,
    surface: 'operator',
  }),
  grantFailuresPerClient: int({
    label: 'Grant failures per client ID / 5 min',
    default: '10',
    min: 1,
    max: 100,
    surface: 'operator',
  }),
  notifyNewDevice: bool({ label: 'Mail on new device', default: 'true' }),
  notifySecurityChanges: bool({ label: 'Mail on security changes', default: 'true' }),
  securityWebhooks: list({ label: 'Security webhooks', max: 50 }, securityWebhooks),
}
