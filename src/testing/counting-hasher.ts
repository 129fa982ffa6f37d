import type { PasswordHasher } from '../ports/host.js'

/** A hasher that counts what is asked of it. */
export interface CountingHasher extends PasswordHasher {
  /** Calls of `hash` so far. */
  readonly hashes: number
  /** The PHC strings `verify` was given so far, in order. */
  readonly verified: readonly string[]
  /** The most calls that ever ran at the same time. */
  readonly peak: number
}

/** Passes everything on to a real hasher and counts the calls. */
export function countingHasher(hasher: PasswordHasher): CountingHasher {
  const verified: string[] = []
  let hashes = 0
  let running = 0
  let peak = 0

  async function counted<T>(work: () => Promise<T>): Promise<T> {
    running += 1
    peak = Math.max(peak, running)
    try {
      return await work()
    } finally {
      running -= 1
    }
  }

  return {
    verified,
    get hashes() {
      return hashes
    },
    get peak() {
      return peak
    },
    hash(password, params, salt) {
      hashes += 1
      return counted(() => hasher.hash(password, params, salt))
    },
    verify(phc, password) {
      verified.push(phc)
      return counted(() => hasher.verify(phc, password))
    },
  }
}
