import { createHmac } from 'node:crypto'

/** The `x-signature` of a body: HMAC-SHA-256 (RFC 2104) under the webhook's secret, in hexadecimal. */
export function webhookSignature(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}
