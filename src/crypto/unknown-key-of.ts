import type { LoadedKeyRing } from './key-ring.js'
import { maxTokenLength } from './token-claims.js'
import { decodeObject } from './token-segment.js'

/** RFC 7638 with SHA-256, as every key of ours is named. */
const thumbprint = /^[\w-]{43}$/

/**
 * The `kid` of a token that says it was signed, as ours are, with a key that the ring does not hold;
 * else null. Its signature cannot be checked, so this proves nothing about the token.
 */
export function unknownKeyOf(token: string, { verifyingKeys }: LoadedKeyRing): string | null {
  if (token.length > maxTokenLength) return null
  const header = decodeObject(token.slice(0, Math.max(0, token.indexOf('.'))))
  const kid = header?.['alg'] === 'RS256' ? header['kid'] : null
  return typeof kid === 'string' && thumbprint.test(kid) && !verifyingKeys.has(kid) ? kid : null
}
