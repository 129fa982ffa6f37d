import type { LoadedKeyRing } from '../../src/crypto/key-ring.js'
import type { TokenUse } from '../../src/crypto/token-format.js'
import { type Expected, verifyToken } from '../../src/crypto/tokens.js'
import { issuer, now } from './claims.js'

/** What the operator surface expects of a token at the test's moment, but for `changes`. */
export function expecting<U extends TokenUse>(
  ring: LoadedKeyRing,
  use: U,
  changes: Partial<Omit<Expected<U>, 'use'>> = {},
): Expected<U> {
  return { ring, issuer, use, accepts: ['operator'], now, leewaySeconds: 0, ...changes }
}

/** What becomes of a token: 'ok', or the reason it is refused for. */
export function judge<U extends TokenUse>(token: unknown, expected: Expected<U>): string {
  const verified = verifyToken(token, expected)
  return verified.ok ? 'ok' : verified.reason
}
