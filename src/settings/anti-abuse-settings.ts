import { longestUrl } from '../engine/addresses.js'
import {
  FieldSecret,
  FieldSelect,
  FieldString,
} from '../engine/configuration/config-declaration.js'
import { readChoice, readInt } from '../engine/configuration/stored-value.js'
import { webhookUrlProblem } from './address-rules.js'
import {
  type FirstValues,
  hour,
  type InitialElement,
  minute,
  type RecordList,
  type Settings,
  settingsIn,
} from './setting.js'

/** A receiver's log has bodies and signatures to try guesses on, as fast as a machine can. */
export const shortestSigningSecret = 32

const events = ['all', 'login', 'account'] as const

/** A host's endpoint that is told of security events. */
export interface InitialSecurityWebhook extends InitialElement {
  /** `https:` only. */
  readonly url: string
  /** 32 to 255 characters, such as `openssl rand -hex 32` prints. */
  readonly signingSecret: string
  /** Signs as well, while receivers change over. In the form of `signingSecret`. Default: none. */
  readonly previousSigningSecret?: string
  readonly events: (typeof events)[number]
}

export type SecurityWebhook = Required<InitialSecurityWebhook>

export const securityWebhooks: RecordList<SecurityWebhook> = {
  items: [
    { key: 'url', label: 'URL (https)', type: FieldString, required: true, max: longestUrl },
    {
      key: 'signingSecret',
      label: 'Signing secret',
      type: FieldSecret,
      required: true,
      min: shortestSigningSecret,
      max: 255,
    },
    {
      key: 'previousSigningSecret',
      label: 'Previous signing secret',
      type: FieldSecret,
      min: shortestSigningSecret,
      max: 255,
    },
    { key: 'events', label: 'Events', type: FieldSelect, required: true, options: events },
  ],
  item: 'url',
  code: 'auth.webhook_url_invalid',
  problem: (text, _element, { isPublicAddress }) => webhookUrlProblem(text, isPublicAddress),

  // A damaged entry is left out: nothing is sent unsigned.
  read(element, warn) {
    const { slug, label } = element
    const url = element['url'] ?? ''
    const signingSecret = element['signingSecret'] ?? ''
    const previousSigningSecret = element['previousSigningSecret'] ?? ''
    const chosen = readChoice(events, element['events'] ?? '')?.value
    if (url === '' || signingSecret === '' || chosen === undefined) {
      warn('it is left out')
      return []
    }
    return [{ slug, label, url, signingSecret, previousSigningSecret, events: chosen }]
  },
}

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
    label: 'Grant failures per address / 5 min',
    default: '30',
    min: 1,
    max: 1000,
    surface: 'operator',
  }),
  grantFailuresPerClient: int({
    label: 'Grant failures per address and client ID / 5 min',
    default: '10',
    min: 1,
    max: 100,
    surface: 'operator',
  }),
  notifyNewDevice: bool({ label: 'Mail on new device', default: 'true' }),
  notifySecurityChanges: bool({ label: 'Mail on security changes', default: 'true' }),
  securityWebhooks: list({ label: 'Security webhooks', max: 50 }, securityWebhooks),
}
