import { formatDuration, parseDuration } from '../engine/duration.js'
import {
  day,
  type FirstValues,
  hour,
  minute,
  type Setting,
  type Settings,
  settingsIn,
} from './setting.js'

const { bool, choice, duration } = settingsIn('Login & Sessions')

/** Asked whenever nothing is stored; the one variable that is not stored at the first boot. */
const accessTokenVariable = 'JWT_ACCESS_TOKEN_EXPIRY'

const shortestLifetime = minute
const longestLifetime = 24 * hour
const usualLifetime = 15 * minute

const accessTTL = duration({
  label: 'Access-token lifetime',
  default: formatDuration(usualLifetime),
  min: shortestLifetime,
  max: longestLifetime,
  envVar: accessTokenVariable,
})

/**
 * What an administrator stored, else the environment, else 15 minutes. Longer than 24 hours acts as
 * 24 hours, shorter than a minute as a minute; what cannot be read counts as not set. The environment
 * is asked at every reading, because a value stored from it would hide it for good.
 */
const accessTokenTTL: Setting<number> = {
  ...accessTTL,
  form: `must be a duration of at least ${formatDuration(shortestLifetime)}, such as '${formatDuration(usualLifetime)}'`,
  // A longer lifetime is accepted as typed and acts as the longest one.
  accepts: (text) => (parseDuration(text) ?? 0) >= shortestLifetime,
  code: 'access_token_ttl_too_short',
  isSetBy: (env) => parseDuration(env[accessTokenVariable] ?? '') !== null,
  read: (key, { values, env, warn }) =>
    readTtl(`Setting "${key}"`, values[key], warn) ??
    readTtl(`Environment variable ${accessTokenVariable}`, env[accessTokenVariable], warn) ??
    usualLifetime,
}

function readTtl(
  source: string,
  text: string | undefined,
  warn: (message: string) => void,
): number | null {
  if (text === undefined || text === '') return null
  const ms = parseDuration(text)
  if (ms === null) {
    warn(`${source} is not a duration such as '15m'; it is ignored.`)
    return null
  }
  const nearest = Math.min(Math.max(ms, shortestLifetime), longestLifetime)
  if (nearest !== ms) warn(`${source} is outside 1m to 24h; using ${formatDuration(nearest)}.`)
  return nearest
}

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

const idleVariable = 'Environment variable JWT_REFRESH_TOKEN_EXPIRY'
const usualIdleWindow = 7 * day

export interface IdleWindow {
  /** Milliseconds a session may go without a refresh. */
  readonly ms: number
  /** What was wrong with the environment's value; for the host's log. */
  readonly warning?: string
}

/**
 * The idle window: `JWT_REFRESH_TOKEN_EXPIRY`, or 7 days. Not a setting: no administrator can change
 * it. Less than a minute acts as a minute, as with the access token: a host that
 * asks for a very short window must not get a week.
 */
export function readIdleWindow(env: Readonly<Record<string, string | undefined>>): IdleWindow {
  const text = env['JWT_REFRESH_TOKEN_EXPIRY'] ?? ''
  if (text === '') return { ms: usualIdleWindow }
  const ms = parseDuration(text)
  if (ms === null)
    return { ms: usualIdleWindow, warning: `${idleVariable} is not a duration; using 7d.` }
  if (ms < minute) return { ms: minute, warning: `${idleVariable} is shorter than 1m; using 1m.` }
  return { ms }
}
