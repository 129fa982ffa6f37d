import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { roleProblem } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { isSystemPermission, type StoredRole } from '../../model/permissions.js'
import { newestFirst } from '../../stores/newest-first.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Actor, actBy } from '../context/actor.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { createRoleBindings, type RoleBindings } from './role-bindings.js'
import { refuseUndefinedTenant, shownTenant, storedTenant } from './stored-tenant.js'

/** A named set of permissions. */
export interface Role {
  readonly id: string
  readonly name: string
  /** The tenant it belongs to; null for a role that can be bound everywhere or in any tenant. */
  readonly tenantId: string | null
  readonly permissions: readonly string[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A role to create or to change. */
export interface RoleDefinition {
  /** 1 to 100 characters; unique in its tenant. */
  readonly name: string
  /**
   * At most 200 permissions: your own, and those of `PERMISSIONS`. There are no wildcards. The role of
   * a tenant takes none of the system set; see `seedOrgRoles`.
   */
  readonly permissions: readonly string[]
  /** The tenant it belongs to; absent or null for a role without a tenant. */
  readonly tenantId?: string | null
}

/**
 * The roles of one surface and their bindings, for the host's code: no permission is checked. They
 * take effect with `authorizer: roleAuthorizer()`, and a change does so at the next request. `by`
 * names the actor for events and audit records. Methods throw `AuthError` with the codes named here,
 * and `service_unavailable` when the store fails.
 */
export interface Roles extends Omit<RoleBindings, 'removeOfRole'> {
  /**
   * Creates the role, or replaces the permissions of the role with this name and tenant. Repeating it
   * changes nothing, so it may run at every start. Throws `invalid_request`.
   */
  define(definition: RoleDefinition, by?: Actor): Promise<Role>
  /**
   * Deletes the role. From the next request on, no user holds it. True if this call did, false if the
   * role did not exist. Repeat it after a rejection to complete it.
   */
  delete(roleId: string, by?: Actor): Promise<boolean>
  /** The roles of a tenant, by default those without a tenant, oldest first. */
  list(of?: { readonly tenantId?: string | null }): Promise<readonly Role[]>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'random' | 'emit'>

export function createRoles(deps: Deps): Roles {
  const { clock, random } = deps
  const { roles } = deps.collections
  const { removeOfRole, ...bindings } = createRoleBindings(deps)

  /** Null when another request was faster; the store now holds what it wrote. */
  async function tryWrite(
    known: StoredRole | undefined,
    { tenantId, name, permissions }: Pick<StoredRole, 'tenantId' | 'name' | 'permissions'>,
  ): Promise<StoredRole | null> {
    const now = clock.now()
    if (known !== undefined) {
      const set = { permissions, revision: known.revision + 1, updatedAt: now }
      return roles.update(known.id, { revision: known.revision }, set)
    }
    const id = uuidv7(now, random)
    const dates = { createdAt: now, updatedAt: now, expiresAt: null }
    const role = { id, tenantId, name, permissions, revision: 1, ...dates }
    return (await roles.insert(role)) ? role : null
  }

  function write(definition: Pick<StoredRole, 'tenantId' | 'name' | 'permissions'>) {
    const { tenantId, name, permissions } = definition
    return retryOnConflict(10, async () => {
      const [known] = await roles.find({ tenantId, name }, { limit: 1 })
      if (known !== undefined && areEqual(known.permissions, permissions)) {
        return { role: known, changed: false }
      }
      const role = await tryWrite(known, definition)
      return role === null ? conflict : { role, changed: true }
    })
  }

  return {
    ...bindings,

    async define(definition, by = {}) {
      const { actorId, source } = actBy(by)
      const { role, changed } = await write(definitionOf(definition))
      const shown = shownRole(role)
      if (changed) {
        const { id: roleId, name, permissions } = role
        const { tenantId } = shown
        deps.emit('role.defined', source, { actorId, roleId, role: name, tenantId, permissions })
      }
      return shown
    },

    async delete(roleId, by = {}) {
      const { actorId, source } = actBy(by)
      if (!isUuid(roleId)) return false
      // First, because a binding without its role grants nothing.
      const role = await roles.take(roleId)
      if (role !== null) {
        const { name, tenantId } = shownRole(role)
        deps.emit('role.deleted', source, { actorId, roleId, role: name, tenantId })
      }
      await removeOfRole(roleId)
      return role !== null
    },

    async list(of = {}) {
      refuseUndefinedTenant(of)
      const { tenantId = null } = of
      const found: Role[] = []
      for await (const role of newestFirst(roles, { tenantId: storedTenant(tenantId) })) {
        found.push(shownRole(role))
      }
      return found.reverse()
    },
  }
}

/** Refuses what could not be meant, rather than make another role than was. */
function definitionOf(definition: RoleDefinition) {
  const { name, permissions, tenantId = null, ...rest } = definition
  refuseUndefinedTenant(definition)
  const problem = roleProblem(name, permissions)
  if (problem !== null) throw new AuthError('invalid_request', { detail: `A role's ${problem}` })
  const stored = storedTenant(tenantId)
  if (Object.keys(rest).length > 0) {
    const detail = 'A role is defined by { name, permissions, tenantId }, and by no other member.'
    throw new AuthError('invalid_request', { detail })
  }
  if (stored !== '' && permissions.some(isSystemPermission)) {
    const detail = 'A role of a tenant takes no permission of the system set; see seedOrgRoles.'
    throw new AuthError('invalid_request', { detail })
  }
  return { name, tenantId: stored, permissions: [...new Set(permissions)] }
}

function areEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index])
}

function shownRole({ id, name, tenantId, permissions, createdAt, updatedAt }: StoredRole): Role {
  return { id, name, tenantId: shownTenant(tenantId), permissions, createdAt, updatedAt }
}
