import type { Algorithm, Version } from '@node-rs/argon2'
import { LoadError } from '../errors/index.js'
import type { PasswordHasher } from '../ports/host.js'
import { parsePhc } from './phc.js'

// The package declares const enums, which exist for its own compiler only.
const argon2id: Algorithm.Argon2id = 2
const version19: Version.V0x13 = 1

/** Caught right here: only then does a host's bundler take it for an import that may find nothing. */
async function library() {
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
      const { hash } = await library()
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
      const { verify } = await library()
      return verify(phc, password)
    },
  }
}
