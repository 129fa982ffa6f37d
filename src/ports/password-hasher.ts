export interface Argon2Params {
  /** KiB */
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** argon2id in PHC string format. Passwords arrive as NFC-normalised UTF-8 bytes. */
export interface PasswordHasher {
  /** A PHC string `$argon2id$v=19$m=…,t=…,p=…$salt$tag` with a 32-byte tag. */
  hash(password: Uint8Array, params: Argon2Params, salt: Uint8Array): Promise<string>
  /** Uses the parameters inside `phc`. False for a string it cannot read; never throws for one. */
  verify(phc: string, password: Uint8Array): Promise<boolean>
}

/**
 * Recognises and checks hashes of an imported user base (bcrypt, scrypt, PBKDF2 …). A hash that
 * verifies is replaced by argon2id at that login. Runs under the same admission limit as argon2.
 */
export interface LegacyVerifier {
  /** True for hashes this verifier owns. Must refuse (false) costs it would not pay at login. */
  recognises(hash: string): boolean
  verify(hash: string, password: Uint8Array): Promise<boolean>
}
