import { formatDuration, parseDuration } from '../engine/duration.js'
import { hour, minute, type Setting } from './setting.js'
import { settingsIn } from './settings-in.js'

/** Asked whenever nothing is stored; the one variable that is not stored at the first boot. */
const accessTokenVariable = 'JWT_ACCESS_TOKEN_EXPIRY'

const shortest = minute
const longest = 24 * hour
const usual = 15 * minute

const declared = settingsIn('Login & Sessions').duration({
  label: 'Access-token lifetime',
  default: formatDuration(usual),
  min: shortest,
  max: longest,
  envVar: accessTokenVariable,
})

/**
 * What an administrator stored, else the environment, else 15 minutes. Longer than 24 hours acts as
 * 24 hours, shorter than a minute as a minute; what cannot be read counts as not set. The environment
 * is asked at every reading, because a value stored from it would hide it for good.
 */
export const accessTokenTTL: Setting<number> = {
  ...declared,
  form: `must be a duration of at least ${formatDuration(shortest)}, such as '${formatDuration(usual)}'`,
  // A longer lifetime is accepted as typed and acts as the longest one.
  accepts: (text) => (parseDuration(text) ?? 0) >= shortest,
  code: 'access_token_ttl_too_short',
  isSetBy: (env) => parseDuration(env[accessTokenVariable] ?? '') !== null,
  read: (key, { values, env, warn }) =>
    readTtl(`Setting "${key}"`, values[key], warn) ??
    readTtl(`Environment variable ${accessTokenVariable}`, env[accessTokenVariable], warn) ??
    usual,
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
  const nearest = Math.min(Math.max(ms, shortest), longest)
  if (nearest !== ms) warn(`${source} is outside 1m to 24h; using ${formatDuration(nearest)}.`)
  return nearest
}
