import { isPeopleOnlyRole } from '../../engine/accounts.js'
import { isSystemPermission, selfPermissions } from '../../model/permissions.js'
import type { AuthorizerFactory, HeldRole } from '../../ports/host.js'
import { isShortcutRole } from './role-shortcuts.js'

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
