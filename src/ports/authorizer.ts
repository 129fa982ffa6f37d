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
   * `auth.self`, `auth.mfa.self`, `auth.service_accounts.read`, `auth.service_accounts.manage`,
   * `system.users.mfa_reset`, `system.modules.read`, `system.modules.manage`, or what the host names in
   * a guard of its own.
   */
  readonly permission: string
}

/**
 * The separate component that decides permissions (seed 1.7). Asked anew for every guarded request;
 * its answers are never kept. Only literal `true` or `{ allow: true }` allows. Anything else
 * refuses with 403; a rejection, or no answer within two seconds, is 503 and the handler does not run.
 */
export interface Authorizer {
  check(question: PermissionQuestion): Promise<boolean | { readonly allow: boolean }>
}
