import { fromHex, partsOf, type SaltAndTag, saltAndTag, textBytes } from './hash-text.js'
import { verifyScrypt } from './scrypt-hash.js'

const form = /^([0-9a-f]{32}):([0-9a-f]{128})$/
const costs = { cost: 16_384, blockSize: 16, parallelization: 1 }

/** `<salt>:<key>` as better-auth stores it. Null for every other text. */
export function readBetterAuthHash(text: string): SaltAndTag | null {
  const [salt = '', tag = ''] = partsOf(form, text) ?? []
  return saltAndTag(textBytes(salt), fromHex(tag))
}

/** better-auth hashes the salt as it is written, and the password in the form NFKC. */
export function verifyBetterAuth(hash: SaltAndTag, password: Uint8Array): Promise<boolean> {
  const typed = new TextDecoder('utf-8', { ignoreBOM: true }).decode(password)
  return verifyScrypt({ ...hash, ...costs }, textBytes(typed.normalize('NFKC')))
}
