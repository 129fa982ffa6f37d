/** A permission that the library's own routes require. */
export interface PermissionInfo {
  readonly key: string
  /**
   * True for the system set: the role shortcuts grant it without a binding, and roles of tenants
   * cannot hold it. This flag decides, not the first word of the key.
   */
  readonly system: boolean
  /** What it allows, in English, for a page that administers roles. */
  readonly grants: string
}

/**
 * The permissions that the library's routes require, beside those of the module configuration in
 * `MODULE_CONFIG_PERMISSIONS`. Permissions do not imply each other.
 */
export const PERMISSIONS = [
  { key: 'auth.self', system: false, grants: 'edit own password and sessions' },
  { key: 'auth.mfa.self', system: false, grants: 'enroll, verify, remove own MFA factors' },
  { key: 'system.users.mfa_reset', system: true, grants: "reset another user's MFA factors" },
  {
    key: 'system.users.password_reset',
    system: true,
    grants: 'trigger a password-reset e-mail for another user',
  },
  {
    key: 'system.users.email_verify_resend',
    system: true,
    grants: "resend another user's e-mail verification",
  },
  {
    key: 'system.users.oauth_unlink',
    system: true,
    grants: 'unlink an OAuth identity from another user',
  },
  { key: 'auth.service_accounts.read', system: true, grants: 'list and inspect service accounts' },
  {
    key: 'auth.service_accounts.manage',
    system: true,
    grants: 'create service accounts; issue, rotate, revoke their credentials',
  },
] as const satisfies readonly PermissionInfo[]

/** The permissions of the user's own account, granted to every enabled person. */
export const selfPermissions: readonly string[] = PERMISSIONS.filter(({ system }) => !system).map(
  ({ key }) => key,
)
