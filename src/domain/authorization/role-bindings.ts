import { isUuid } from '../../crypto/secrets.js'
import { isPeopleOnlyRole } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { roleBindingId, type StoredRole, type StoredRoleBinding } from '../../model/permissions.js'
import { isHuman } from '../../model/user.js'
import { newestFirst } from '../../stores/newest-first.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Act, type Actor, actBy } from '../context/actor.js'
import { reasonOf } from '../context/reason-of.js'
import type { SurfaceContext } from '../context/surface-context.js'
import { refuseUndefinedTenant, shownTenant, storedTenant } from './stored-tenant.js'

/** A role for a user, everywhere or in one tenant. */
export interface RoleAssignment {
  readonly userId: string
  readonly roleId: string
  /**
   * The tenant in which the user holds it; it counts there while the user is a member. Absent or null
   * means the tenant of the role, or everywhere for a role without a tenant.
   */
  readonly tenantId?: string | null
}

/** A stored assignment: which user holds which role, where, and since when. */
export interface RoleBinding {
  readonly userId: string
  readonly roleId: string
  /** The tenant in which the user holds it; null for everywhere. */
  readonly tenantId: string | null
  /** Epoch milliseconds. */
  readonly createdAt: number
}

export interface RoleBindings {
  /**
   * Gives a role to a person or a service account. Resolves with true if this call did, false if the
   * user already held it. Throws `not_found` for an unknown role, `user_not_found` for an unknown
   * user, `role_not_assignable` for a role named `super_admin` or `administrator` and a service
   * account, and `invalid_request`, also for the role of another tenant. After `service_unavailable`
   * repeat it: the next call completes what was interrupted. If the store wrote without an answer, the role is bound.
   */
  bind(assignment: RoleAssignment, by?: Actor): Promise<boolean>
  /** Takes a role from a user. True if this call did, false if the user did not hold it. */
  unbind(assignment: RoleAssignment, by?: Actor): Promise<boolean>
  /**
   * Takes every role from a user, or those held in one tenant that the user leaves. Resolves with
   * their number. Repeat it after a rejection. Throws `invalid_request` for a `tenantId` without a value.
   */
  unbindAll(userId: string, of?: { readonly tenantId?: string }, by?: Actor): Promise<number>
  /** Every role that a user holds, one entry for each role and tenant. */
  bindingsOf(userId: string): Promise<readonly RoleBinding[]>
  /** Removes the bindings of a role that was deleted. */
  removeOfRole(roleId: string): Promise<void>
}

type Deps = Pick<SurfaceContext, 'collections' | 'clock' | 'emit'>

/** Another call for the same binding may complete it, or take it back. */
const tries = 8

type Place = Pick<StoredRoleBinding, 'userId' | 'roleId' | 'tenantId'>

export function createRoleBindings(deps: Deps): RoleBindings {
  const { clock } = deps
  const { users, roles, roleBindings } = deps.collections

  async function knownRole(roleId: string): Promise<StoredRole> {
    const role = isUuid(roleId) ? await roles.get(roleId) : null
    if (role === null) throw new AuthError('not_found', { detail: 'There is no such role.' })
    return role
  }

  /** Fails closed: a user who cannot be read does not count as a person. */
  async function requireHolder(userId: string, { name }: StoredRole): Promise<void> {
    const user = isUuid(userId) ? await users.get(userId) : null
    // A user that is being deleted can no longer change.
    if (user === null || user.deletingAt !== null) throw new AuthError('user_not_found')
    if (isPeopleOnlyRole(name) && !isHuman(user)) throw new AuthError('role_not_assignable')
  }

  async function add(assignment: RoleAssignment): Promise<Place | null> {
    const { userId, roleId, tenantId: given = null } = onlyMembers(assignment)
    const asked = storedTenant(given)
    const role = await knownRole(roleId)
    const isElsewhere = role.tenantId !== '' && asked !== '' && asked !== role.tenantId
    if (isElsewhere) {
      const detail =
        'A role of a tenant is bound in that tenant alone: leave tenantId out, or name it.'
      throw new AuthError('invalid_request', { detail })
    }
    await requireHolder(userId, role)
    const place = { userId, roleId, tenantId: asked === '' ? role.tenantId : asked }
    return retryOnConflict(tries, () => tryAdd(place))
  }

  /** Null where the user holds it already. */
  async function tryAdd(place: Place): Promise<Place | null | typeof conflict> {
    const id = roleBindingId(place)
    const now = clock.now()
    const binding = { ...place, id, createdAt: now, pendingSince: now, expiresAt: null }
    const isNew = await roleBindings.insert(binding)
    const stored = isNew ? binding : await roleBindings.get(id)
    if (stored === null) return conflict
    const { pendingSince } = stored
    if (pendingSince === null) return null
    try {
      // Deleted in between, either would leave a binding that nothing removes any more.
      await requireHolder(place.userId, await knownRole(place.roleId))
    } catch (error) {
      await roleBindings.take(id, { pendingSince })
      throw error
    }
    return (await complete(stored)) ? place : conflict
  }

  /** False where another call completed it, or took it back. */
  async function complete({ id, pendingSince }: StoredRoleBinding): Promise<boolean> {
    try {
      const bound = await roleBindings.update(id, { pendingSince }, { pendingSince: null })
      return bound !== null
    } catch (error) {
      // The answer was lost, but the write may have taken effect.
      if ((await roleBindings.get(id))?.pendingSince === null) return true
      throw error
    }
  }

  async function placeOf({ userId, roleId, tenantId = null }: RoleAssignment): Promise<Place> {
    if (tenantId !== null) return { userId, roleId, tenantId: storedTenant(tenantId) }
    const role = await roles.get(roleId)
    return { userId, roleId, tenantId: role?.tenantId ?? '' }
  }

  async function remove(place: Place, { actorId, source }: Act): Promise<boolean> {
    const taken = await roleBindings.take(roleBindingId(place))
    if (taken === null || taken.pendingSince !== null) return false
    const { userId: targetId, roleId } = place
    const tenantId = shownTenant(place.tenantId)
    deps.emit('role.unbound', source, { actorId, targetId, roleId, tenantId })
    return true
  }

  return {
    async bind(assignment, by = {}) {
      const { actorId, source } = actBy(by)
      const { userId: targetId, roleId } = assignment
      const added = await add(assignment).catch((error: unknown) => {
        deps.emit('role.bindFailed', source, { actorId, targetId, roleId, reason: reasonOf(error) })
        throw error
      })
      if (added === null) return false
      const tenantId = shownTenant(added.tenantId)
      deps.emit('role.bound', source, { actorId, targetId, roleId, tenantId })
      return true
    },

    async unbind(assignment, by = {}) {
      const act = actBy(by)
      const { userId, roleId } = onlyMembers(assignment)
      if (!isUuid(userId) || !isUuid(roleId)) return false
      return remove(await placeOf(assignment), act)
    },

    async unbindAll(userId, of = {}, by = {}) {
      const act = actBy(by)
      const { tenantId, ...rest } = of
      refuseUndefinedTenant(of)
      if (Object.keys(rest).length > 0) {
        const detail = 'What to unbind is given as { tenantId }, or left out for everything.'
        throw new AuthError('invalid_request', { detail })
      }
      if (!isUuid(userId)) return 0
      const only = tenantId === undefined ? null : storedTenant(tenantId)
      let removed = 0
      for await (const binding of newestFirst(roleBindings, { userId })) {
        if (only !== null && binding.tenantId !== only) continue
        if (await remove(binding, act)) removed += 1
      }
      return removed
    },

    async bindingsOf(userId) {
      const found: RoleBinding[] = []
      if (!isUuid(userId)) return found
      for await (const binding of newestFirst(roleBindings, { userId })) {
        const { roleId, tenantId, createdAt, pendingSince } = binding
        if (pendingSince !== null) continue
        found.push({ userId, roleId, tenantId: shownTenant(tenantId), createdAt })
      }
      return found.reverse()
    },

    async removeOfRole(roleId) {
      for await (const { id } of newestFirst(roleBindings, { roleId })) await roleBindings.take(id)
    },
  }
}

/** A misspelt `tenantId`, or one without a value, would bind everywhere. */
function onlyMembers(assignment: RoleAssignment): RoleAssignment {
  const { userId, roleId, tenantId, ...rest } = assignment
  const isText = typeof userId === 'string' && typeof roleId === 'string'
  refuseUndefinedTenant(assignment)
  if (Object.keys(rest).length > 0 || !isText) {
    const detail =
      'An assignment is { userId, roleId, tenantId }, the last one optional, and no other member.'
    throw new AuthError('invalid_request', { detail })
  }
  return assignment
}
