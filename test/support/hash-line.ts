import type { HashLine } from '../../src/crypto/hash-gate.js'

/** For hashes of which it does not matter who waits for them. */
export const anyLine: HashLine = { holder: 'client', name: 'anybody' }
