import { generateSigningKey } from '../../src/crypto/signing-key.js'

let generated: Promise<string> | undefined

/** One signing key for a test file: making one takes up to a second. */
export function testSigningKey(): Promise<string> {
  generated ??= generateSigningKey()
  return generated
}
