import { loadPart } from '../errors/index.js'
import type { PasswordHasher } from '../ports/host.js'
import { parsePhc } from './phc.js'

const library = () => loadPart('argon2', () => import('argon2'))

/**
 * The default hasher, on the `argon2` package (libuv's thread pool). The native module is loaded at
 * the first use. `verify` takes every argon2 variant; what it cannot read, or what costs more than
 * `parsePhc` admits, is false. A real failure (no memory, a missing binary) rejects.
 */
export function argon2Hasher(): PasswordHasher {
  return {
    async hash(password, params, salt) {
      const argon2 = await library()
      return argon2.hash(asBuffer(password), {
        type: argon2.argon2id,
        version: 0x13,
        hashLength: 32,
        salt: asBuffer(salt),
        memoryCost: params.memoryCost,
        timeCost: params.timeCost,
        parallelism: params.parallelism,
      })
    },

    async verify(phc, password) {
      if (parsePhc(phc) === null) return false
      const argon2 = await library()
      return argon2.verify(phc, asBuffer(password))
    },
  }
}

/** The same memory, as the type the package asks for. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
