import type { DenylistEntry } from '../../ports/backend.js'
/** 24 h covers the longest access token, one minute the largest clock leeway. */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}

/**
 * The first entry for one of these ids that has not expired; null without one. A backend may answer with others as well.
 */
export function entryInForce(
  entries: readonly DenylistEntry[],
  ids: readonly string[],
  now: number,
): DenylistEntry | null {
  return entries.find(({ id, expiresAt }) => ids.includes(id) && expiresAt > now) ?? null
}
