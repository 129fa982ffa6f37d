import { keyedHash } from '../../crypto/secrets.js'
import type { RequestSource } from '../../ports/request-source.js'

/**
 * What tells the clients of one session apart. A thief with a copy of the refresh token rarely has the
 * user agent and the recognition id as well. Of two users of one browser the digests differ.
 */
export function clientDigest(
  userId: string,
  { userAgent }: RequestSource,
  recognitionId: string | null,
): string {
  return keyedHash(recognitionId ?? '', JSON.stringify(['client', userId, userAgent]))
}
