import { isSystemPermission } from '../../model/system-permissions.js'

const shortcuts: readonly string[] = ['super_admin', 'administrator', 'developer']

/** As they are written: a role in another spelling is another role, and grants nothing. */
export function isShortcutRole(role: string): boolean {
  return shortcuts.includes(role)
}

/**
 * Whether a user's `systemRole` grants a permission by itself, without a binding: `super_admin`,
 * `administrator` and `developer` grant the system set (see `PERMISSIONS` and
 * `MODULE_CONFIG_PERMISSIONS`) and nothing else, neither `auth.self` and `auth.mfa.self` nor keys of
 * the host's own. Roles are compared as they are written: ` Administrator` grants nothing.
 */
export function shortcutGrants(role: string, key: string): boolean {
  return isShortcutRole(role) && isSystemPermission(key)
}
