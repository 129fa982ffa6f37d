import { createHmac } from 'node:crypto'

/**
 * The `x-signature` of a body: HMAC-SHA-256 (RFC 2104) in hexadecimal under each of these secrets that is not empty, in
 * their order, joined by commas.
 */
export function webhookSignature(secrets: readonly string[], body: string): string {
  const signed = (secret: string) => createHmac('sha256', secret).update(body).digest('hex')
  return secrets
    .filter((secret) => secret !== '')
    .map((secret) => `sha256=${signed(secret)}`)
    .join(',')
}
