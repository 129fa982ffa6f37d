import { isPeopleOnlyRole } from '../../engine/accounts.js'
import { isSystemPermission, selfPermissions } from '../../model/permissions.js'
import type { Authorizer, AuthorizerFactory, HeldRole } from '../../ports/host.js'

/** Options of `roleAuthorizer`. */
export interface RoleAuthorizerOptions {
  /**
   * Permissions to add to the system set: role shortcuts grant them, and roles bound in a tenant do
   * not. Include the names that `createAuth({ permissions })` gives to the module configuration.
   * Default none.
   */
  readonly systemPermissions?: readonly string[]
}

/**
 * An authorizer by roles, for `createAuth({ authorizer: roleAuthorizer() })`. It grants
 *
 * - `auth.self` and `auth.mfa.self` to every person;
 * - the system set (see `shortcutGrants`) to people of the operator surface whose `systemRole` is
 *   `super_admin`, `administrator` or `developer`;
 * - the permissions of roles bound with `auth.<surface>.roles`. A role bound everywhere counts on
 *   every route. A role bound in a tenant counts where the route names that tenant and the user is a
 *   member of it, and never grants the system set.
 *
 * A service account has the permissions of its bindings only. The bindings are read for every
 * question, in one read and a second for users with roles; the self permissions and the shortcuts
 * need no read. It rejects, and the route answers 503, when the store fails.
 */
export function roleAuthorizer(options: RoleAuthorizerOptions = {}): AuthorizerFactory {
  const { systemPermissions = [] } = options
  const isSystem = (key: string) => isSystemPermission(key) || systemPermissions.includes(key)
  return (roles) => ({
    async check({ surface, userId, kind, systemRole, memberships, tenantId, permission }) {
      if (kind === '') {
        if (selfPermissions.includes(permission)) return true
        if (surface === 'operator' && isShortcutRole(systemRole) && isSystem(permission))
          return true
      }
      const isMember = memberships.some((membership) => membership.tenantId === tenantId)
      const held = await roles.heldBy({ surface, userId, tenantId: isMember ? tenantId : null })
      const counts = (role: HeldRole) =>
        role.permissions.includes(permission) &&
        (role.tenantId === null || !isSystem(permission)) &&
        (kind === '' || !isPeopleOnlyRole(role.name))
      return held.some(counts)
    },
  })
}

const shortcuts: readonly string[] = ['super_admin', 'administrator', 'developer']

/** Compares exactly: another spelling is another role, which grants nothing. */
function isShortcutRole(role: string): boolean {
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

/**
 * The permissions for a tenant's own role, made from a list of keys: `auth.self` and `auth.mfa.self`,
 * without which members could not even change their password, and those of `keys` that do not belong
 * to the system set, each once and in their order.
 */
export function seedOrgRoles(keys: readonly string[]): readonly string[] {
  return [...new Set([...selfPermissions, ...keys.filter((key) => !isSystemPermission(key))])]
}

/**
 * The authorizer of a host that brings none: every enabled person may manage their own account,
 * and nothing else is allowed.
 */
export const defaultAuthorizer: Authorizer = {
  async check({ kind, permission }) {
    return kind === '' && selfPermissions.includes(permission)
  },
}
