import type { Exchange, History } from '../history.js'

/**
 * Once the denylist was lost, an access token of a session that ended before is accepted until it expires: nothing else is
 * looked at for each request.
 */
export function livesOnAlone(
  { operation, begun, ended, shown, begunAt }: Exchange,
  { denylistLost, profile }: Pick<History, 'denylistLost' | 'profile'>,
): boolean {
  if (denylistLost === null || operation !== 'me' || shown === null) return false
  return (ended ?? begun) >= denylistLost && begunAt + Math.min(...profile.skews) < shown.exp
}
