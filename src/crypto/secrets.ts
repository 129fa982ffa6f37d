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
