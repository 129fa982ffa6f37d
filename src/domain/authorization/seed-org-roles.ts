import { selfPermissions } from '../../model/permissions.js'
import { isSystemPermission } from '../../model/system-permissions.js'

/**
 * What to give the role of a tenant that is made from a list of keys: `auth.self` and
 * `auth.mfa.self`, without which its members could not so much as change their own password, and
 * those of `keys` that are not of the system set, each once and in their order.
 */
export function seedOrgRoles(keys: readonly string[]): readonly string[] {
  return [...new Set([...selfPermissions, ...keys.filter((key) => !isSystemPermission(key))])]
}
