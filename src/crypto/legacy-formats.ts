import type { LegacyHashes, LegacyVerifier } from '../ports/host.js'
import { readBcryptHash, verifyBcrypt } from './bcrypt-hash.js'
import { readBetterAuthHash, verifyBetterAuth } from './better-auth-hash.js'
import { readFirebaseHash, verifyFirebase } from './firebase-hash.js'
import type { ReadHash } from './hash-text.js'
import { readPbkdf2Hash, verifyPbkdf2 } from './pbkdf2-hash.js'
import { readScryptHash, verifyScrypt } from './scrypt-hash.js'

/** Checks the hashes of one format, and tells those that cost too much from those of other formats. */
export interface LegacyFormat extends LegacyVerifier {
  isTooCostly(hash: string): boolean
}

/** The formats that the host switched on. */
export function legacyFormats(on: LegacyHashes): readonly LegacyFormat[] {
  const { bcrypt, firebaseScrypt } = on
  return [
    ...(bcrypt === undefined
      ? []
      : [format(readBcryptHash, (hash, password) => verifyBcrypt(bcrypt, hash, password))]),
    ...(on.scrypt === true ? [format(readScryptHash, verifyScrypt)] : []),
    ...(on.betterAuth === true ? [format(readBetterAuthHash, verifyBetterAuth)] : []),
    ...(on.pbkdf2 === true ? [format(readPbkdf2Hash, verifyPbkdf2)] : []),
    ...(firebaseScrypt === undefined
      ? []
      : [
          format(readFirebaseHash, (hash, password) =>
            verifyFirebase(firebaseScrypt, hash, password),
          ),
        ]),
  ]
}

function format<T>(
  read: (text: string) => ReadHash<T>,
  check: (hash: T, password: Uint8Array) => Promise<boolean>,
): LegacyFormat {
  return {
    recognises: (text) => isAffordable(read(text)),
    isTooCostly: (text) => read(text) === 'tooCostly',
    async verify(text, password) {
      const hash = read(text)
      return isAffordable(hash) && check(hash, password)
    },
  }
}

function isAffordable<T>(hash: ReadHash<T>): hash is T {
  return hash !== null && hash !== 'tooCostly'
}
