import type { LockoutBudget, MfaChange } from './events.js'
import type { Surface, UserKind } from './surface.js'

/** The only source of time: no decision reads another clock, nor that of a database. */
export interface Clock {
  /** Epoch milliseconds, a whole number. */
  now(): number
  /**
   * Calls `run` once, `ms` milliseconds from now, unless the returned function was called before.
   * A pending timer keeps the process alive only where `awaited` is true: a caller of the library then waits for it.
   */
  after(ms: number, run: () => void, awaited?: boolean): () => void
}

/** The only source of randomness. It must be cryptographically secure. */
export interface Random {
  bytes(length: number): Uint8Array
  /**
   * As many bytes for a name, which has to be unique and need not be secret. They may have been drawn
   * before, together with others. Default: `bytes`.
   */
  nameBytes?(length: number): Uint8Array
}

/**
 * Structured log lines. The library never passes a password, token, hash or cookie. What a logger
 * throws is ignored.
 */
export interface Logger {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** An outbound HTTP request with its limits. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds for the whole exchange, including the body. */
  readonly timeoutMs: number
  /** The call rejects when the body of the reply is longer than this many bytes. */
  readonly maxBytes: number
  /**
   * The URL came from an untrusted caller (SSRF): use only `https:`, and connect only to addresses
   * of the public internet, checked on the resolved address. Your own fetcher has to enforce this too.
   */
  readonly publicOnly?: true
}

/** The reply to an outbound request, of any status. */
export interface OutboundReply {
  readonly status: number
  readonly body: string
}

/**
 * Outbound HTTP. Never follows redirects. Rejects on a timeout, an oversized body and a network
 * failure; a reply of any status resolves.
 */
export interface Fetcher {
  fetch(request: OutboundRequest): Promise<OutboundReply>
}

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
  /** True for those of its form that cost too much: an import says so of them. Optional. */
  isTooCostly?(hash: string): boolean
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
  /**
   * The `compare` of `bcrypt`, `bcryptjs` or `@node-rs/bcrypt`: takes `$2a$`, `$2b$` and `$2y$`. The hash stays after
   * a password of more than 72 bytes, because bcrypt reads no further.
   */
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

/** What an authorizer is asked: may this user do this, here? */
export interface PermissionQuestion {
  readonly surface: Surface
  /** The id of the user, a person or a service account as `kind` says. */
  readonly userId: string
  /** Empty for a person, `service` for a service account. */
  readonly kind: UserKind
  /** The role that the host gave to the user; `guest` when it gave none. */
  readonly systemRole: string
  readonly memberships: readonly { readonly tenantId: string }[]
  /**
   * The tenant that a route guard of the host named for this request; null without one, as on all
   * routes of the library. Nothing has checked that the user is a member: compare `memberships`.
   */
  readonly tenantId: string | null
  /**
   * A key of `PERMISSIONS` or `MODULE_CONFIG_PERMISSIONS` (as `createAuth({ permissions })` renames
   * them), or any name that the host passes to a route guard.
   */
  readonly permission: string
  /** The caller's session; null for a service account, which has none. */
  readonly sessionId: string | null
  /**
   * Reads how long ago this session showed a second factor, in milliseconds. Null without a proof that counts, and for
   * service accounts. A proof of more than an hour ago may not count any more. It asks the store at each call, and rejects
   * when the store fails: let that pass, and the caller gets 503.
   */
  readonly proofAge: () => Promise<number | null>
}

/**
 * Decides permissions. The library asks it for every guarded request and never caches an answer.
 * Only literal `true` or `{ allow: true }` allows; any other answer refuses with 403
 * `permission_denied`. A rejection, or no answer within two seconds, gives 503
 * `authorization_unavailable`. In both cases the handler does not run.
 */
export interface Authorizer {
  check(question: PermissionQuestion): Promise<boolean | { readonly allow: boolean }>
}

/** Somebody who is about to get an account. */
export interface Registering {
  /** The canonical address, as accounts are found by it. */
  readonly email: string
  readonly surface: Surface
  /** `password`, or the id of a provider that has proved who signs up. */
  readonly via: string
}

/**
 * Asked before somebody registers. A `code` refuses: 403 `registration_disabled` with the code as `reason`, and in a
 * redirect `?error=registration_disabled&reason=…`. It is dotted, such as `signup.disposable_mail`, and does not begin
 * with `auth.`; `detail` is a sentence for the caller, who may be a stranger. Nothing (`undefined` or null) lets the registration go on. A rejection, another answer, or none within two
 * seconds gives 503.
 *
 * It is asked before the library looks whether the address is taken: it must not tell that either.
 */
export type BeforeRegister = (
  who: Registering,
) =>
  | Promise<{ readonly code: string; readonly detail?: string } | null | undefined>
  | { readonly code: string; readonly detail?: string }
  | null
  | undefined

/** A role that a user holds, with the permissions it carries. */
export interface HeldRole {
  readonly name: string
  readonly permissions: readonly string[]
  /** The tenant in which the user holds it; null for a role held everywhere. */
  readonly tenantId: string | null
}

/** The roles that `auth.operator.roles` and `auth.client.roles` administer. */
export interface HeldRoles {
  /**
   * Reads the roles that the user holds everywhere and, unless `tenantId` is null, in that tenant.
   * Membership of the tenant is not checked. Rejects when the store fails.
   */
  heldBy(holder: {
    readonly surface: Surface
    readonly userId: string
    readonly tenantId: string | null
  }): Promise<readonly HeldRole[]>
}

/** Makes an authorizer from the roles in the store: `roleAuthorizer()`, or your own around it. */
export type AuthorizerFactory = (roles: HeldRoles) => Authorizer

/**
 * A mail that the library asks the host to render and send. Times are epoch milliseconds. `url` is a
 * page of the host; it carries the `token`, if there is one, in its fragment (`#token=…`).
 */
export type Mail = {
  readonly surface: Surface
  readonly to: string
  /** The account's name; empty in mails to an unconfirmed address. */
  readonly name: string
  /**
   * The languages of the browser or app that asked for this mail, the most wanted first: language ranges in lower case
   * (RFC 4647 §2.1), such as `de-at`, at most ten. Only in mails with a link or a code, and left out where the request named none
   * (`Accept-Language`). A notice to the owner has none: a thief may have caused it.
   */
  readonly languages?: readonly string[]
} & (
  | {
      /** Confirms the address of a new account. */
      readonly template: 'verifyEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** Confirms a change of address. Goes to the new address. */
      readonly template: 'changeEmail'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /** A registration or a change of address named this address, which already has an account. */
      readonly template: 'accountExists'
      readonly data: { readonly url: string }
    }
  | {
      readonly template: 'resetPassword'
      readonly data: { readonly url: string; readonly token: string; readonly expiresAt: number }
    }
  | {
      /**
       * A code that signs in where it was asked for, and nowhere else. `site` is the host of the page to sign in.
       * `ip` and `userAgent` say where it was asked for. Null stands for unknown.
       */
      readonly template: 'loginCode'
      readonly data: {
        readonly code: string
        readonly expiresAt: number
        readonly site: string
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** A login that differs from those of the last ninety days. Null stands for unknown. */
      readonly template: 'newDevice'
      readonly data: {
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after the change. */
      readonly template: 'passwordChanged'
      readonly data: { readonly at: number }
    }
  | {
      /**
       * A signed-in session asked to move the account from this address to another. Nothing has
       * changed yet; changing the password stops it.
       */
      readonly template: 'emailChangeRequested'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after the change, to the old address. */
      readonly template: 'emailChanged'
      readonly data: { readonly at: number; readonly newEmail: string }
    }
  | {
      /** Sent after the owner deleted the account. */
      readonly template: 'accountDeleted'
      readonly data: { readonly at: number }
    }
  | {
      /** Sent after a change of second factors: an app, a passkey, backup codes, or a reset of all. */
      readonly template: 'mfaChanged'
      readonly data: { readonly at: number; readonly change: MfaChange }
    }
  | {
      /**
       * Too many wrong second-factor codes were shown by a caller who knows the password or has a session
       * of the account: the owner should change the password. Sent for the first lockout in a month.
       */
      readonly template: 'secondFactorLockedOut'
      readonly data: {
        readonly at: number
        readonly method: 'totp' | 'backupCode'
        /** Right codes of this method are refused until then, where they count towards `budget`. */
        readonly until: number
        readonly budget: LockoutBudget
      }
    }
  | {
      /**
       * Guesses at the account, by a caller who showed the right password. `password`: it came after three
       * wrong ones or more. `secondFactor`: three wrong codes or responses of passkeys came after it, or within
       * a session. One of each a day, at most. Null stands for unknown.
       */
      readonly template: 'loginSuspicious'
      readonly data: {
        readonly at: number
        readonly reason: 'password' | 'secondFactor'
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after a device became trusted to skip the second factor. Null stands for unknown. */
      readonly template: 'deviceTrusted'
      readonly data: {
        readonly at: number
        readonly ip: string | null
        readonly userAgent: string | null
      }
    }
  | {
      /** Sent after a provider's account became a way to sign in, or stopped being one. */
      readonly template: 'identityChanged'
      readonly data: {
        readonly at: number
        /** The id of the provider, such as `google`. */
        readonly provider: string
        readonly change: 'linked' | 'unlinked'
      }
    }
)

/** Sends mail. A rejection is logged and emitted as an event; it never fails the request. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}
