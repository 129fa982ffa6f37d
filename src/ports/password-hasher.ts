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

/** The password hash parameters of a Firebase project, from its console or `firebase auth:export`. */
export interface FirebaseScryptParams {
  /** `base64_signer_key` */
  readonly signerKey: string
  /** `base64_salt_separator` */
  readonly saltSeparator: string
  /** 1 to 8. */
  readonly rounds: number
  /** `mem_cost`; 1 to 14. */
  readonly memCost: number
}

/**
 * The formats of older hashes that logins check, and that `users.import` takes. Each is off unless it is
 * named. When such a hash verifies at a login, argon2id replaces it. Hashes that cost more than a login may
 * are never checked: bcrypt above a cost of 14, scrypt above 128 MiB or N·r·p = 2^21, PBKDF2 above
 * 2,000,000 iterations.
 */
export interface LegacyHashes {
  /** The `compare` of `bcrypt`, `bcryptjs` or `@node-rs/bcrypt`: takes `$2a$`, `$2b$` and `$2y$`. */
  readonly bcrypt?: (password: string, hash: string) => Promise<boolean>
  /** PHC strings `$scrypt$ln=…,r=…,p=…$salt$hash`, and what Django and Werkzeug write. */
  readonly scrypt?: boolean
  /** `<salt>:<key>` of better-auth: scrypt with N = 16,384, r = 16 and p = 1. */
  readonly betterAuth?: boolean
  /** PHC strings `$pbkdf2-sha256$i=…$salt$hash` (sha1, sha256, sha512), and what passlib, Django and Werkzeug write. */
  readonly pbkdf2?: boolean
  /** `$firebase-scrypt$<salt>$<passwordHash>` of one project. */
  readonly firebaseScrypt?: FirebaseScryptParams
}
