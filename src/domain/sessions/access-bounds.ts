import type { AccessBounds } from '../../engine/refresh-rules.js'
import type { RefreshFamily } from '../../model/sessions.js'
import type { Attempt } from './refresh-reading.js'

/** What an access token of this session may not outlive. */
export function accessBounds(
  { accessTtlMs: ttlMs, absoluteTtlMs }: Pick<Attempt, 'accessTtlMs' | 'absoluteTtlMs'>,
  { expiresAt: idleEndsAt }: Pick<RefreshFamily, 'expiresAt'>,
): AccessBounds {
  return { ttlMs, idleEndsAt, absoluteTtlMs }
}

/** When the cap ends the session, in epoch milliseconds; null without a cap. */
export function absoluteEnd(
  { absoluteTtlMs: cap }: Pick<Attempt, 'absoluteTtlMs'>,
  { loginAt }: Pick<RefreshFamily, 'loginAt'>,
): number | null {
  return cap === null ? null : loginAt + cap
}
