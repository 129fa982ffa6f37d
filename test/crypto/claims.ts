import type { AccessClaims, RefreshClaims } from '../../src/crypto/token-format.js'

/** The moment the test tokens are judged at: half a second past a whole one, in milliseconds. */
export const now = 1_800_000_000_500
/** The whole second `now` lies in. */
export const second = 1_800_000_000
export const issuer = 'https://auth.example.test'

export function accessClaims(changes: Partial<AccessClaims> = {}): AccessClaims {
  return {
    iss: issuer,
    aud: 'operator',
    sub: 'user-1',
    jti: 'token-1',
    iat: second - 10,
    exp: second + 890,
    tokenUse: 'access',
    sid: 'session-1',
    memberships: [{ tenantId: 'tenant-1' }, { tenantId: 'tenant-2' }],
    amr: ['pwd', 'otp'],
    authTime: second - 3600,
    ...changes,
  }
}

export function refreshClaims(changes: Partial<RefreshClaims> = {}): RefreshClaims {
  return {
    iss: issuer,
    aud: 'operator',
    sub: 'user-1',
    jti: 'token-2',
    iat: second - 10,
    exp: second + 86_390,
    tokenUse: 'refresh',
    sid: 'session-1',
    gen: 7,
    amr: ['pwd'],
    authTime: second - 3600,
    ...changes,
  }
}
