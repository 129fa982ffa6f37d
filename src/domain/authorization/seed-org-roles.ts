import { isSystemPermission, selfPermissions } from '../../model/permissions.js'

/**
 * The permissions for a tenant's own role, made from a list of keys: `auth.self` and `auth.mfa.self`,
 * without which members could not even change their password, and those of `keys` that do not belong
 * to the system set, each once and in their order.
 */
export function seedOrgRoles(keys: readonly string[]): readonly string[] {
  return [...new Set([...selfPermissions, ...keys.filter((key) => !isSystemPermission(key))])]
}
