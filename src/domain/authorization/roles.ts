import { isUuid, uuidv7 } from '../../crypto/secrets.js'
import { isPeopleOnlyRole, isTenantId, roleProblem } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import type { Collections } from '../../model/collections.js'
import {
  isSystemPermission,
  roleBindingId,
  type StoredRole,
  type StoredRoleBinding,
  selfPermissions,
} from '../../model/permissions.js'
import { isHuman } from '../../model/user.js'
import type { Authorizer, AuthorizerFactory, HeldRole, HeldRoles } from '../../ports/host.js'
import type { Surface } from '../../ports/surface.js'
import { newestFirst, pagesUntilShort } from '../../stores/pages.js'
import { conflict, retryOnConflict } from '../../stores/retry-on-conflict.js'
import { type Act, type Actor, actBy, reasonOf } from '../context/actor.js'
import type { SurfaceContext } from '../surface/surface-context.js'

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
  /**
   * Unique in its tenant: 1 to 100 characters in Unicode form NFC, without blanks around it and without characters that
   * are not seen, so that what looks like one name is one.
   */
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

export function createRoles(ctx: SurfaceContext): Roles {
  const { removeOfRole, ...bindings } = createRoleBindings(ctx)
  /** Null when another request was faster; the store now holds what it wrote. */
  async function tryWrite(
    known: StoredRole | undefined,
    { tenantId, name, permissions }: Pick<StoredRole, 'tenantId' | 'name' | 'permissions'>,
  ): Promise<StoredRole | null> {
    const now = ctx.clock.now()
    if (known !== undefined) {
      const set = { permissions, revision: known.revision + 1, updatedAt: now }
      return ctx.collections.roles.update(known.id, { revision: known.revision }, set)
    }
    const id = uuidv7(now, ctx.random)
    const dates = { createdAt: now, updatedAt: now, expiresAt: null }
    const role = { id, tenantId, name, permissions, revision: 1, ...dates }
    return (await ctx.collections.roles.insert(role)) ? role : null
  }

  function write(definition: Pick<StoredRole, 'tenantId' | 'name' | 'permissions'>) {
    const { tenantId, name, permissions } = definition
    return retryOnConflict(10, async () => {
      const [known] = await ctx.collections.roles.find({ tenantId, name }, { limit: 1 })
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
        ctx.emit('role.defined', source, { actorId, roleId, role: name, tenantId, permissions })
      }
      return shown
    },

    async delete(roleId, by = {}) {
      const { actorId, source } = actBy(by)
      if (!isUuid(roleId)) return false
      // First, because a binding without its role grants nothing.
      const role = await ctx.collections.roles.take(roleId)
      if (role !== null) {
        const { name, tenantId } = shownRole(role)
        ctx.emit('role.deleted', source, { actorId, roleId, role: name, tenantId })
      }
      await removeOfRole(roleId)
      return role !== null
    },

    async list(of = {}) {
      refuseUndefinedTenant(of)
      const { tenantId = null } = of
      const found: Role[] = []
      for await (const role of newestFirst(ctx.collections.roles, {
        tenantId: storedTenant(tenantId),
      })) {
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

/** Another call for the same binding may complete it, or take it back. */
const tries = 8

type Place = Pick<StoredRoleBinding, 'userId' | 'roleId' | 'tenantId'>

function createRoleBindings(ctx: SurfaceContext): RoleBindings {
  async function knownRole(roleId: string): Promise<StoredRole> {
    const role = isUuid(roleId) ? await ctx.collections.roles.get(roleId) : null
    if (role === null) throw new AuthError('not_found', { detail: 'There is no such role.' })
    return role
  }
  /** Fails closed: a user who cannot be read does not count as a person. */
  async function requireHolder(userId: string, { name }: StoredRole): Promise<void> {
    const user = isUuid(userId) ? await ctx.collections.users.get(userId) : null
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
    const now = ctx.clock.now()
    const binding = { ...place, id, createdAt: now, pendingSince: now, expiresAt: null }
    const isNew = await ctx.collections.roleBindings.insert(binding)
    const stored = isNew ? binding : await ctx.collections.roleBindings.get(id)
    if (stored === null) return conflict
    const { pendingSince } = stored
    if (pendingSince === null) return null
    try {
      // Deleted in between, either would leave a binding that nothing removes any more.
      await requireHolder(place.userId, await knownRole(place.roleId))
    } catch (error) {
      await ctx.collections.roleBindings.take(id, { pendingSince })
      throw error
    }
    return (await complete(stored)) ? place : conflict
  }
  /** False where another call completed it, or took it back. */
  async function complete({ id, pendingSince }: StoredRoleBinding): Promise<boolean> {
    try {
      const bound = await ctx.collections.roleBindings.update(
        id,
        { pendingSince },
        { pendingSince: null },
      )
      return bound !== null
    } catch (error) {
      // The answer was lost, but the write may have taken effect.
      if ((await ctx.collections.roleBindings.get(id))?.pendingSince === null) return true
      throw error
    }
  }

  async function placeOf({ userId, roleId, tenantId = null }: RoleAssignment): Promise<Place> {
    if (tenantId !== null) return { userId, roleId, tenantId: storedTenant(tenantId) }
    const role = await ctx.collections.roles.get(roleId)
    return { userId, roleId, tenantId: role?.tenantId ?? '' }
  }

  async function remove(place: Place, { actorId, source }: Act): Promise<boolean> {
    const taken = await ctx.collections.roleBindings.take(roleBindingId(place))
    if (taken === null || taken.pendingSince !== null) return false
    const { userId: targetId, roleId } = place
    const tenantId = shownTenant(place.tenantId)
    ctx.emit('role.unbound', source, { actorId, targetId, roleId, tenantId })
    return true
  }

  return {
    async bind(assignment, by = {}) {
      const { actorId, source } = actBy(by)
      const { userId: targetId, roleId } = assignment
      const added = await add(assignment).catch((error: unknown) => {
        ctx.emit('role.bindFailed', source, { actorId, targetId, roleId, reason: reasonOf(error) })
        throw error
      })
      if (added === null) return false
      const tenantId = shownTenant(added.tenantId)
      ctx.emit('role.bound', source, { actorId, targetId, roleId, tenantId })
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
      for await (const binding of newestFirst(ctx.collections.roleBindings, { userId })) {
        if (only !== null && binding.tenantId !== only) continue
        if (await remove(binding, act)) removed += 1
      }
      return removed
    },

    async bindingsOf(userId) {
      const found: RoleBinding[] = []
      if (!isUuid(userId)) return found
      for await (const binding of newestFirst(ctx.collections.roleBindings, { userId })) {
        const { roleId, tenantId, createdAt, pendingSince } = binding
        if (pendingSince !== null) continue
        found.push({ userId, roleId, tenantId: shownTenant(tenantId), createdAt })
      }
      return found.reverse()
    },

    async removeOfRole(roleId) {
      for await (const { id } of newestFirst(ctx.collections.roleBindings, { roleId }))
        await ctx.collections.roleBindings.take(id)
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

/** "Of no tenant" as it is stored: fields of a unique index are never null. */
function storedTenant(tenantId: string | null): string {
  if (tenantId === null) return ''
  if (!isTenantId(tenantId)) {
    const detail =
      'tenantId must be a text of 1 to 64 characters, or left out where no tenant is meant.'
    throw new AuthError('invalid_request', { detail })
  }
  return tenantId
}

/**
 * Throws `invalid_request` for a member `tenantId` that is there and undefined: what was to name the
 * tenant is missing, and the role would hold everywhere.
 */
function refuseUndefinedTenant(given: { readonly tenantId?: string | null }): void {
  if (!Object.hasOwn(given, 'tenantId') || given.tenantId !== undefined) return
  const detail =
    'tenantId is there and undefined: name a tenant, or leave the member out where no tenant is meant.'
  throw new AuthError('invalid_request', { detail })
}

function shownTenant(stored: string): string | null {
  return stored === '' ? null : stored
}

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
      // Each guarded request may come here, and a binding that is missed grants nothing.
      for await (const page of pagesUntilShort(collections[surface].roleBindings, { userId })) {
        const counting = page.filter((one) => {
          return one.pendingSince === null && ['', tenantId].includes(one.tenantId)
        })
        bindings.push(...counting)
      }
      const roles = await Promise.all(bindings.map((binding) => roleOf(surface, binding)))
      return roles.filter((role) => role !== null)
    },
  }
}

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
