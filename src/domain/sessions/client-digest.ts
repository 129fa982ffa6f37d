import { keyedHash } from '../../crypto/secrets.js'
import { agentOf, clientMark, loginNetworkOf } from '../../engine/login-risk-rules.js'
import type { RequestSource } from '../../ports/surface.js'

/**
 * What tells the clients of one session apart. A thief with a copy of the refresh token rarely has the
 * user agent and the recognition id as well. The digests of two users of one browser differ.
 */
function clientDigest(
  userId: string,
  { userAgent }: RequestSource,
  recognitionId: string | null,
): string {
  return keyedHash(recognitionId ?? '', JSON.stringify(['client', userId, userAgent]))
}

/** What a rotation writes of the client that has the newest token; its places too where refreshes are judged by them. */
export function markOf(
  userId: string,
  source: RequestSource,
  recognitionId: string | null,
  withPlaces: boolean,
): string {
  const digest = (kind: string, text: string | null) =>
    keyedHash('', JSON.stringify([kind, userId, text]))
  const client = clientDigest(userId, source, recognitionId)
  const places = () => [
    digest('network', loginNetworkOf(source.ip)),
    digest('agent', agentOf(source.userAgent)),
  ]
  return clientMark(client, withPlaces ? places() : [])
}
