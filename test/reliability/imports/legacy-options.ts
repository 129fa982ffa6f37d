import type { LegacyHashes } from 'postern'
import {
  aspnetIdentity,
  djangoBcryptSha256,
  phpass,
  springPbkdf2,
  wordpress,
} from 'postern/verifiers'

export const firebaseScrypt = {
  ...{ signerKey: 'c2lnbmVyIG9mIHRoZSB0ZXN0', saltSeparator: 'Bw==', rounds: 8, memCost: 4 },
}

/** What reads the hashes of all old users. */
export const legacyOptions = (bcrypt: NonNullable<LegacyHashes['bcrypt']>) => ({
  legacyHashes: { bcrypt, scrypt: true, pbkdf2: true, betterAuth: true, firebaseScrypt },
  legacyVerifiers: [
    ...[phpass(), wordpress(bcrypt), djangoBcryptSha256(bcrypt)],
    ...[aspnetIdentity(), springPbkdf2()],
  ],
})
