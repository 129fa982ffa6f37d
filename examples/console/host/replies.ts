// What the console's own routes answer, for the routes and for the pages that ask them. It imports nothing: pages are
// checked without the server. Times are epoch milliseconds.

/** A user, as far as the pages show one. */
export interface ShownUser {
  readonly id: string
  readonly email: string
  readonly emailVerified: boolean
  readonly name: string
  readonly systemRole: string
  readonly enabled: boolean
  readonly hasPassword: boolean
  readonly createdAt: number
  readonly lastLoginAt: number | null
}

/** A session of a user. */
export interface ShownSession {
  readonly id: string
  readonly loginAt: number
  readonly active: boolean
  readonly ip: string | null
  readonly userAgent: string | null
}

/** The sessions of the user who asks. */
export interface OwnSessionsReply {
  readonly sessions: readonly (ShownSession & { readonly current: boolean })[]
}

/** An account at an identity provider that signs a user in. */
export interface ShownIdentity {
  readonly id: string
  readonly provider: string
  readonly subject: string
  readonly linkedAt: number
}

/** A page of users. */
export interface UsersReply {
  readonly users: readonly ShownUser[]
  /** The `after` of the next page; null on the last one. */
  readonly next: string | null
}

/** A user with what belongs to them. */
export interface UserReply {
  readonly user: ShownUser
  readonly sessions: readonly ShownSession[]
  readonly identities: readonly ShownIdentity[]
}

/** A registration whose mailed link was not opened yet. */
export interface ShownRegistration {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** A page of registrations. */
export interface RegistrationsReply {
  readonly registrations: readonly ShownRegistration[]
  readonly next: string | null
}

/** A named set of permissions. */
export interface ShownRole {
  readonly id: string
  readonly name: string
  readonly tenantId: string | null
  readonly permissions: readonly string[]
}

/** A permission that means something on this host. */
export interface ShownPermission {
  readonly key: string
  /** True for those that no role of a tenant takes. */
  readonly system: boolean
  /** What it allows. */
  readonly grants: string
}

/** The roles of a surface, and the permissions that they can be made of. */
export interface RolesReply {
  readonly roles: readonly ShownRole[]
  readonly permissions: readonly ShownPermission[]
}

/** A role that an account holds. */
export interface ShownBinding {
  readonly roleId: string
  /** Its name; null where it was deleted meanwhile. */
  readonly role: string | null
  /** Null for everywhere. */
  readonly tenantId: string | null
  readonly createdAt: number
}

/** The roles that an account holds. */
export interface BindingsReply {
  readonly bindings: readonly ShownBinding[]
}

/** A record of the audit log. */
export interface ShownRecord {
  readonly id: string
  readonly at: number
  readonly action: string
  readonly outcome: 'success' | 'failure'
  readonly actorId: string | null
  readonly targetId: string | null
  readonly sessionId: string | null
  readonly ip: string | null
  readonly userAgent: string | null
  readonly details: Readonly<Record<string, unknown>>
}

/** An account that a record names by its id. */
export interface NamedAccount {
  readonly surface: 'operator' | 'client'
  /** Empty for a person, `service` for a service account. */
  readonly kind: string
  readonly label: string
}

/** Records that were found, the newest first. */
export interface AuditReply {
  readonly records: readonly ShownRecord[]
  /** By id, as far as the accounts still exist. */
  readonly accounts: Readonly<Record<string, NamedAccount>>
  /** Where the search goes on; null at the end of the log. */
  readonly next: string | null
}
