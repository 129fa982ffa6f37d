import type { ProviderId } from '../../identity-providers/providers.js'
import type { Membership } from '../../model/user.js'

/** An account at an identity provider. */
export interface ImportedIdentity {
  readonly provider: ProviderId
  /** As its ID tokens have it, such as `https://accounts.google.com`. */
  readonly issuer: string
  /** The user's id at the provider (`sub`). */
  readonly subject: string
}

/** A user of another product. Times are epoch milliseconds or a `Date`, and not in the future. */
export interface ImportedUser {
  /** A UUID in lower case, which the account then has. Default: a new one. */
  readonly id?: string | null
  readonly email: string
  /** Default empty. */
  readonly name?: string | null
  /** An argon2 hash, or one of a format in `legacyHashes` or `legacyVerifiers`. Default: no password. */
  readonly passwordHash?: string | null
  /** Default: the time of the import. */
  readonly passwordChangedAt?: number | Date | null
  /** True: verified at `emailVerifiedAt`, or now. Default: whether there is such a time. */
  readonly emailVerified?: boolean
  readonly emailVerifiedAt?: number | Date | null
  /** Default: the time of the import. */
  readonly createdAt?: number | Date | null
  readonly lastLoginAt?: number | Date | null
  /** Default true. */
  readonly enabled?: boolean
  /** Needs `allowRoles`, but for `guest`, which is the default. */
  readonly systemRole?: string
  readonly memberships?: readonly Membership[]
  /** One of each provider at most. Needs a verified address. */
  readonly identities?: readonly ImportedIdentity[]
  /**
   * The secret of an authenticator app (SHA-1, six digits, 30 seconds), 16 to 64 bytes in base32. Needs a verified
   * address.
   */
  readonly totpSecret?: string | null
}

/** The users to import. */
export interface ImportBatch {
  /** At most 10,000. */
  readonly users: readonly ImportedUser[]
  /** The roles that rows may have in `systemRole`. Default none. */
  readonly allowRoles?: readonly string[]
  /** With `true` the rows are judged by the same rules, and nothing is written or reported as event. Default false. */
  readonly dryRun?: boolean
}

/** Why a row made no account. */
export type ImportRefusal =
  /** Not an object, or a member that is unknown or of another form. */
  | 'invalid_row'
  | 'kind_not_allowed'
  | 'email_not_allowed'
  /** A factor or an identity without a verified address. */
  | 'email_not_verified'
  | 'hash_not_supported'
  | 'hash_too_costly'
  | 'role_not_allowed'
  /** An account had this id. */
  | 'id_deleted'

/** What a row would have to share with another account, or with an earlier row. */
export type ImportConflict = 'id_taken' | 'email_taken' | 'identity_taken' | 'duplicate_row'

/** What became of a row. `reason` is a sentence for the log, and repeats no value of the row. */
export type ImportResult =
  | { readonly outcome: 'created'; readonly id: string }
  /** In a dry run: an import would create it, or complete one that was cut off. */
  | { readonly outcome: 'creatable' }
  /**
   * The account is there already; nothing of it was changed. `emailDiffers`: it was found by the row's id, and has
   * another address. Either its user changed the address, or the id stands for another person at this source.
   */
  | { readonly outcome: 'skipped'; readonly id: string; readonly emailDiffers: boolean }
  | { readonly outcome: 'conflict'; readonly code: ImportConflict; readonly reason: string }
  | { readonly outcome: 'refused'; readonly code: ImportRefusal; readonly reason: string }

/** What became of a batch. */
export interface ImportReport {
  /** In a dry run: the rows that are `creatable`. */
  readonly created: number
  readonly skipped: number
  readonly conflicts: number
  readonly refused: number
  /** One for each row, in the order of the rows. */
  readonly results: readonly ImportResult[]
}
