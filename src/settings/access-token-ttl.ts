import { formatDuration, parseDuration } from '../engine/duration.js'
import { hour, minute } from './auth-field.js'

const shortest = minute
const longest = 24 * hour
const usual = 15 * minute

/**
 * Milliseconds an access token lives: what an administrator stored, else the environment,
 * else 15 minutes. Longer than 24 hours acts as 24 hours, shorter than a minute as a minute; what
 * cannot be read counts as not set. Asked at every reading of the settings and not seeded, because
 * a seeded value would hide the environment for good.
 */
export function accessTokenTtl(
  stored: string | undefined,
  environment: string | undefined,
  warn: (message: string) => void,
): number {
  return (
    readTtl('Setting "accessTokenTTL"', stored, warn) ??
    readTtl('Environment variable JWT_ACCESS_TOKEN_EXPIRY', environment, warn) ??
    usual
  )
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
