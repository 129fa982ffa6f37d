import { sha256 } from '../../crypto/secrets.js'
import type { RequestSource } from '../../ports/request-source.js'

/** What tells the clients of one session apart: a thief with a copy rarely has the same user agent. */
export function clientDigest({ userAgent }: RequestSource): string {
  return sha256(userAgent ?? '')
}
