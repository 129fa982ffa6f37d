import type { Algorithm, Version } from '@node-rs/argon2'
import { LoadError, loadPart } from '../errors/index.js'
import type { PasswordHasher } from '../ports/host.js'
import { parsePhc } from './phc.js'

const argon2Package = () => loadPart('argon2', () => import('argon2'))

/**
 * The default hasher, on the `argon2` package (libuv's thread pool). The native module is loaded at
 * the first use. `verify` takes every argon2 variant; what it cannot read, or what costs more than
 * `parsePhc` admits, is false. A real failure (no memory, a missing binary) rejects.
 */
export function argon2Hasher(): PasswordHasher {
  return {
    async hash(password, params, salt) {
      const argon2 = await argon2Package()
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
      const argon2 = await argon2Package()
      return argon2.verify(phc, asBuffer(password))
    },
  }
}

/** The same memory, as the type the package asks for. */
function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

// The package declares const enums, which exist for its own compiler only.
const argon2id: Algorithm.Argon2id = 2
const version19: Version.V0x13 = 1

/** Caught right here: only then does a host's bundler take it for an import that may find nothing. */
async function nodeRsPackage() {
  try {
    return await import('@node-rs/argon2')
  } catch (cause) {
    const remedy = 'install it, and leave it out of a bundle'
    throw new LoadError(`@node-rs/argon2 could not be loaded: ${remedy}`, { cause })
  }
}

/**
 * A hasher on the optional peer `@node-rs/argon2`: about three times as fast (SIMD), the same PHC
 * strings. Either hasher verifies what the other wrote. Behaves like `argon2Hasher`; rejects at the
 * first use when the package is not installed.
 */
export function nodeRsHasher(): PasswordHasher {
  return {
    async hash(password, params, salt) {
      const { hash } = await nodeRsPackage()
      return hash(password, {
        algorithm: argon2id,
        version: version19,
        outputLen: 32,
        salt,
        memoryCost: params.memoryCost,
        timeCost: params.timeCost,
        parallelism: params.parallelism,
      })
    },

    async verify(phc, password) {
      if (parsePhc(phc) === null) return false
      const { verify } = await nodeRsPackage()
      return verify(phc, password)
    },
  }
}
