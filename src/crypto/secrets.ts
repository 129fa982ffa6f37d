import { createHash, createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Random } from '../ports/host.js'

/** An unguessable opaque token: `bytes` random bytes (256 bits unless told otherwise), base64url. */
export function randomToken(random: Random, bytes = 32): string {
  return Buffer.from(random.bytes(bytes)).toString('base64url')
}

/**
 * The SHA-256 digest, base64url, of bytes or of text as UTF-8. What the library stores of a random
 * token; too fast for a password.
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url')
}

/**
 * The HMAC-SHA-256 (RFC 2104) of a text under a random secret, base64url: without the secret, nothing
 * tells which digests were made with the same one.
 */
export function keyedHash(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('base64url')
}

/** Whether two secrets are the same text, in a time that tells nothing about where they differ. */
export function equalConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(fixedLength(a), fixedLength(b))
}

/**
 * Digests are of one length, which `timingSafeEqual` needs, and hide the lengths of the texts.
 * UTF-16 keeps texts apart that UTF-8 would merge (lone surrogates).
 */
function fixedLength(text: string): Buffer {
  return createHash('sha256').update(text, 'utf16le').digest()
}

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/**
 * A version 7 UUID (RFC 9562 §5.7): 48 bits of time, then 74 random bits. Ids sort by the
 * millisecond they were made in; within one millisecond their order is random. A name, never a
 * secret: the time in it is plain to see.
 *
 * @param now epoch milliseconds; throws a `RangeError` when they do not fit
 */
export function uuidv7(now: number, random: Random): string {
  if (!(now >= 0 && now < 2 ** 48)) throw new RangeError('uuidv7: the time is out of range')
  const bytes = Buffer.alloc(16)
  bytes.set(random.nameBytes?.(10) ?? random.bytes(10), 6)
  bytes.writeUIntBE(Math.floor(now), 0, 6)
  bytes.writeUInt8(0x70 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * Whether `text` is written the way UUIDs are written here: lower case with hyphens, of any
 * version. Other spellings of the same UUID are refused, because a store compares ids by code unit.
 */
export function isUuid(text: string): boolean {
  return canonical.test(text)
}

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

/** What a signature of Standard Webhooks is of; `timestamp` in seconds. */
export interface SignedWebhook {
  readonly id: string
  readonly timestamp: number
  readonly body: string
}

/**
 * The `webhook-signature` of Standard Webhooks: HMAC-SHA-256 in base64 under each of these secrets that is not empty, in
 * their order, joined by blanks. A secret `whsec_…` names its key of 24 bytes or more in base64; any other is the key
 * itself.
 */
export function standardWebhookSignature(
  secrets: readonly string[],
  { id, timestamp, body }: SignedWebhook,
): string {
  const keyOf = (secret: string) => {
    const encoded = secret.slice('whsec_'.length)
    const key = Buffer.from(encoded, 'base64')
    // Decoding skips what is no base64, down to an empty key.
    const isKey = key.byteLength >= 24 && key.toString('base64') === encoded
    return secret.startsWith('whsec_') && isKey ? key : secret
  }
  const text = `${id}.${timestamp}.${body}`
  return secrets
    .filter((secret) => secret !== '')
    .map((secret) => `v1,${createHmac('sha256', keyOf(secret)).update(text).digest('base64')}`)
    .join(' ')
}
