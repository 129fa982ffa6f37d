import type { Collections } from '../../model/collections.js'
import type { StoredRoleBinding } from '../../model/permissions.js'
import type { HeldRole, HeldRoles } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import { newestFirst } from '../../stores/newest-first.js'
import { shownTenant } from './stored-tenant.js'

type Rooms = Readonly<Record<Surface, Pick<Collections, 'roles' | 'roleBindings'>>>

/** What an authorizer learns of the roles in the store. */
export function createHeldRoles(collections: Rooms): HeldRoles {
  async function roleOf(surface: Surface, binding: StoredRoleBinding): Promise<HeldRole | null> {
    const role = await collections[surface].roles.get(binding.roleId)
    // The role was deleted and its binding will be, or the stored role belongs to another tenant.
    if (role === null || !['', binding.tenantId].includes(role.tenantId)) return null
    const { name, permissions } = role
    return { name, permissions, tenantId: shownTenant(binding.tenantId) }
  }

  return {
    async heldBy({ surface, userId, tenantId }) {
      const bindings: StoredRoleBinding[] = []
      for await (const binding of newestFirst(collections[surface].roleBindings, { userId })) {
        const counts = binding.pendingSince === null && ['', tenantId].includes(binding.tenantId)
        if (counts) bindings.push(binding)
      }
      const roles = await Promise.all(bindings.map((binding) => roleOf(surface, binding)))
      return roles.filter((role) => role !== null)
    },
  }
}
