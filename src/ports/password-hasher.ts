/** The costs of argon2id (RFC 9106 §3.1). */
export interface Argon2Params {
  /** KiB */
  readonly memoryCost: number
  readonly timeCost: number
  readonly parallelism: number
}

/** argon2id (RFC 9106) in PHC string format. Passwords arrive as NFC-normalised UTF-8 bytes. */
export interface PasswordHasher {
  /** A PHC string `$argon2id$v=19$m=…,t=…,p=…$salt$tag` with a 32-byte tag. */
  hash(password: Uint8Array, params: Argon2Params, salt: Uint8Array): Promise<string>
  /** Uses the parameters inside `phc`. Resolves with false for a string that it cannot read. */
  verify(phc: string, password: Uint8Array): Promise<boolean>
}

/**
 * Checks the hashes of an imported user base (bcrypt, scrypt, PBKDF2 …). When such a hash verifies at
 * a login, argon2id replaces it. Calls count against the same limit of parallel hashes as argon2.
 */
export interface LegacyVerifier {
  /** True for hashes that `verify` can check. Answer false for costs too high to pay at a login. */
  recognises(hash: string): boolean
  verify(hash: string, password: Uint8Array): Promise<boolean>
}
