import { type Auth, AuthError, type Principal, shortcutGrants, type UserRecord } from 'postern'
import { knownPermissions } from './console-permissions.ts'
import { Refusal } from './refusal.ts'

type Surface = 'operator' | 'client'

/** What a permission alone does not decide: who may change whom, and which roles an operator may give. */
export interface AccountRules {
  /** A person of this surface; throws `user_not_found`. */
  person(surface: Surface, id: string): Promise<UserRecord>
  /**
   * The same for ending sessions, also the caller's. Throws `permission_denied` for an operator who may do what
   * the caller may not: by a shortcut role, or by permissions of the system set from roles.
   */
  subordinate(caller: Principal<'operator'>, surface: Surface, id: string): Promise<UserRecord>
  /** The same for any other change. Throws `own_account` (409) for the caller's account too. */
  changeable(caller: Principal<'operator'>, surface: Surface, id: string): Promise<UserRecord>
  /** Throws `permission_denied` if this is a shortcut role and the caller has none. */
  requireMayAssign(caller: Principal<'operator'>, systemRole: string): Promise<void>
  /**
   * Throws `permission_denied` unless the caller holds those of these permissions that belong to the system set.
   * Otherwise an operator who may define roles could get every permission.
   */
  requireHolds(caller: Principal<'operator'>, permissions: readonly string[]): Promise<void>
  /**
   * The same for a role of operators that is to be changed, deleted or taken from its holder. Otherwise an operator
   * who may define roles could take permissions from an operator with more of them, and then change that account.
   */
  requireHoldsRole(
    caller: Principal<'operator'>,
    role: { readonly name: string } | { readonly id: string },
  ): Promise<void>
}

const anySystemPermission = 'system.users.mfa_reset'
const isShortcut = (role: string) => shortcutGrants(role, anySystemPermission)
const systemKeys = new Set<string>(
  knownPermissions.filter(({ system }) => system).map(({ key }) => key),
)

export function accountRules(auth: Auth): AccountRules {
  async function person(surface: Surface, id: string): Promise<UserRecord> {
    const user = await auth[surface].users.get(id)
    if (user === null || user.kind !== '') throw new AuthError('user_not_found')
    return user
  }

  async function requireMayAssign({ userId }: Principal, systemRole: string): Promise<void> {
    if (!isShortcut(systemRole)) return
    const caller = await auth.operator.users.get(userId)
    if (!isShortcut(caller?.systemRole ?? '')) throw new AuthError('permission_denied')
  }

  async function requireHolds(caller: Principal<'operator'>, permissions: readonly string[]) {
    for (const key of permissions.filter((one) => systemKeys.has(one))) {
      await auth.operator.requirePermission(caller, key)
    }
  }

  async function requireHoldsRole(
    caller: Principal<'operator'>,
    meant: { readonly name: string } | { readonly id: string },
  ) {
    const roles = await auth.operator.roles.list()
    const role = roles.find(({ id, name }) =>
      'id' in meant ? id === meant.id : name === meant.name,
    )
    await requireHolds(caller, role?.permissions ?? [])
  }

  /** What an operator may do by roles. A role that is bound within a tenant opens nothing of the console. */
  async function permissionsOf(userId: string): Promise<readonly string[]> {
    const held = await auth.operator.roles.bindingsOf(userId)
    const ids = new Set(held.flatMap(({ roleId, tenantId }) => (tenantId === null ? [roleId] : [])))
    const bound = ids.size === 0 ? [] : await auth.operator.roles.list()
    return bound.flatMap(({ id, permissions }) => (ids.has(id) ? permissions : []))
  }

  async function subordinate(caller: Principal<'operator'>, surface: Surface, id: string) {
    const user = await person(surface, id)
    if (surface === 'client' || user.id === caller.userId) return user
    await requireMayAssign(caller, user.systemRole)
    await requireHolds(caller, await permissionsOf(user.id))
    return user
  }

  return {
    person,
    subordinate,
    requireMayAssign,
    requireHolds,
    requireHoldsRole,

    async changeable(caller, surface, id) {
      if (surface === 'operator' && id === caller.userId) {
        throw new Refusal(409, 'own_account', 'This is your own account. Ask another operator.')
      }
      return subordinate(caller, surface, id)
    },
  }
}
