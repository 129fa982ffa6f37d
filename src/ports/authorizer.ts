import type { Surface } from './surface.js'

export interface PermissionQuestion {
  readonly surface: Surface
  /** The user id: of a human, or of a service account. */
  readonly userId: string
  readonly kind: 'human' | 'service'
  /** As the host gave it to the user; `guest` when it gave none. */
  readonly systemRole: string
  readonly memberships: readonly { readonly tenantId: string }[]
  /**
   * The tenant that the guard of a host's route named, for this request; null where none did, as on
   * all routes of the library. Nobody has looked whether the user is its member.
   */
  readonly tenantId: string | null
  /**
   * `auth.self`, `auth.mfa.self`, `auth.service_accounts.read`, `auth.service_accounts.manage`,
   * `system.users.mfa_reset`, `system.modules.read`, `system.modules.manage`, or what the host names in
   * a guard of its own.
   */
  readonly permission: string
}

/**
 * The separate component that decides permissions. Asked anew for every guarded request;
 * its answers are never kept. Only literal `true` or `{ allow: true }` allows. Anything else
 * refuses with 403; a rejection, or no answer within two seconds, is 503 and the handler does not run.
 */
export interface Authorizer {
  check(question: PermissionQuestion): Promise<boolean | { readonly allow: boolean }>
}

/** A role as somebody holds it. */
export interface HeldRole {
  readonly name: string
  readonly permissions: readonly string[]
  /** The one tenant it is held in; null where it is held everywhere. */
  readonly tenantId: string | null
}

/** The roles that `auth.operator.roles` and `auth.client.roles` administer. */
export interface HeldRoles {
  /**
   * The roles somebody holds everywhere and, unless it is null, in this tenant, read anew. Whether
   * they are its member is not looked at. Rejects when the store fails.
   */
  heldBy(holder: {
    readonly surface: Surface
    readonly userId: string
    readonly tenantId: string | null
  }): Promise<readonly HeldRole[]>
}

/** Makes an authorizer that asks the roles in the store: `roleAuthorizer()`, or one around it. */
export type AuthorizerFactory = (roles: HeldRoles) => Authorizer
