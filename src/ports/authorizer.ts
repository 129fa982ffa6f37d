import type { Surface } from './surface.js'
import type { UserKind } from './user-kind.js'

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
