import { isSystemPermission } from '../../model/permissions.js'

const shortcuts: readonly string[] = ['super_admin', 'administrator', 'developer']

/** Compares exactly: another spelling is another role, which grants nothing. */
export function isShortcutRole(role: string): boolean {
  return shortcuts.includes(role)
}

/**
 * True if a user's `systemRole` grants a permission without a binding. `super_admin`, `administrator`
 * and `developer` grant the system set (see `PERMISSIONS` and `MODULE_CONFIG_PERMISSIONS`) and nothing
 * else: neither `auth.self` and `auth.mfa.self` nor permissions of the host. Roles are compared
 * exactly: ` Administrator` grants nothing. It does not know who asks: call it for people on the operator surface alone
 * (`kind === ''` and `surface === 'operator'`), as `roleAuthorizer` does.
 */
export function shortcutGrants(role: string, key: string): boolean {
  return isShortcutRole(role) && isSystemPermission(key)
}
