/** 24 h covers the longest access token, one minute the largest clock leeway. */
export const denylistLifeMs = 24 * 60 * 60 * 1000 + 60 * 1000

export function sessionDenylistId(surface: string, sessionId: string): string {
  return `${surface}:session:${sessionId}`
}

export function tokenDenylistId(surface: string, jti: string): string {
  return `${surface}:token:${jti}`
}
