import { createCipheriv, timingSafeEqual } from 'node:crypto'
import type { FirebaseScryptParams } from '../ports/host.js'
import { fromBase64, partsOf, type SaltAndTag, saltAndTag } from './hash-text.js'
import { deriveScrypt } from './scrypt-hash.js'

const form = /^\$firebase-scrypt\$([\w+/-]+={0,2})\$([\w+/-]+={0,2})$/

/** `$firebase-scrypt$<salt>$<passwordHash>`, both as Firebase exports them. Null for every other text. */
export function readFirebaseHash(text: string): SaltAndTag | null {
  const [salt = '', tag = ''] = partsOf(form, text) ?? []
  return saltAndTag(fromBase64(salt), fromBase64(tag))
}

/**
 * Firebase's own scrypt: the derived key encrypts the key of the project, and the cipher text is the hash.
 * See https://github.com/firebase/scrypt.
 */
export async function verifyFirebase(
  params: FirebaseScryptParams,
  { salt, tag }: SaltAndTag,
  password: Uint8Array,
): Promise<boolean> {
  const { memCost, rounds } = params
  const costs = { cost: 2 ** memCost, blockSize: rounds, parallelization: 1 }
  const separator = fromBase64(params.saltSeparator) ?? new Uint8Array()
  const salted = Buffer.concat([salt, separator])
  const key = await deriveScrypt(password, salted, 32, costs)
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  const signerKey = fromBase64(params.signerKey) ?? new Uint8Array()
  const made = Buffer.concat([cipher.update(signerKey), cipher.final()])
  return made.length === tag.length && made.length > 0 && timingSafeEqual(made, tag)
}
