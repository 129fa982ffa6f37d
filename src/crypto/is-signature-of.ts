import { type KeyObject, verify } from 'node:crypto'

/** Whether it is the RS256 signature (RFC 7518 §3.3) of this key over these bytes. */
export function isSignatureOf(publicKey: KeyObject, data: Uint8Array, signature: unknown): boolean {
  return signature instanceof Uint8Array && verify('RSA-SHA256', data, publicKey, signature)
}
