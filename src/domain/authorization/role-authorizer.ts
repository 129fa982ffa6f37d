import { isPeopleOnlyRole } from '../../engine/people-only-role.js'
import { selfPermissions } from '../../model/permissions.js'
import { isSystemPermission } from '../../model/system-permissions.js'
import type { AuthorizerFactory, HeldRole } from '../../ports/authorizer.js'
import { isShortcutRole } from './role-shortcuts.js'

export interface RoleAuthorizerOptions {
  /**
   * Keys that join the system set: the role shortcuts grant them, and within a tenant nobody does.
   * Name here what `createAuth({ permissions })` calls the permissions of the module configuration.
   */
  readonly systemPermissions?: readonly string[]
}

/**
 * An authorizer by roles, for `createAuth({ authorizer: roleAuthorizer() })`. It allows
 *
 * - `auth.self` and `auth.mfa.self` to every person;
 * - the system set (see `shortcutGrants`) to people of the operator surface whose `systemRole` is
 *   `super_admin`, `administrator` or `developer`;
 * - what a role bound with `auth.<surface>.roles` holds: one bound everywhere on every route, one
 *   bound in a tenant where the route names that tenant and the user is its member. The system set
 *   counts in bindings that hold everywhere alone.
 *
 * A service account may do what it has bindings for. Everything is read anew for every question:
 * one read, and a second one for who holds roles; what the shortcuts and the self keys answer is
 * read from nowhere. It rejects, and the route answers 503, when the store fails.
 */
export function roleAuthorizer(options: RoleAuthorizerOptions = {}): AuthorizerFactory {
  const { systemPermissions = [] } = options
  const isSystem = (key: string) => isSystemPermission(key) || systemPermissions.includes(key)
  return (roles) => ({
    async check({ surface, userId, kind, systemRole, memberships, tenantId, permission }) {
      if (kind === 'human') {
        if (selfPermissions.includes(permission)) return true
        if (surface === 'operator' && isShortcutRole(systemRole) && isSystem(permission))
          return true
      }
      const isMember = memberships.some((membership) => membership.tenantId === tenantId)
      const held = await roles.heldBy({ surface, userId, tenantId: isMember ? tenantId : null })
      const counts = (role: HeldRole) =>
        role.permissions.includes(permission) &&
        (role.tenantId === null || !isSystem(permission)) &&
        (kind === 'human' || !isPeopleOnlyRole(role.name))
      return held.some(counts)
    },
  })
}
