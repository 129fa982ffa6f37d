import { parseDuration } from '../engine/duration.js'
import { day, minute } from './setting.js'

const variable = 'Environment variable JWT_REFRESH_TOKEN_EXPIRY'
const usual = 7 * day

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
  if (text === '') return { ms: usual }
  const ms = parseDuration(text)
  if (ms === null) return { ms: usual, warning: `${variable} is not a duration; using 7d.` }
  if (ms < minute) return { ms: minute, warning: `${variable} is shorter than 1m; using 1m.` }
  return { ms }
}
