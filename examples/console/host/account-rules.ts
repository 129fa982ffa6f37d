import { type Auth, AuthError, type Principal, shortcutGrants, type UserRecord } from 'postern'
import { knownPermissions } from './console-permissions.ts'
import { Refusal } from './refusal.ts'

type Surface = 'operator' | 'client'

/** What a permission alone does not decide: who may change whom, and which roles an operator may give. */
export interface AccountRules {
  /** A person of this surface; throws `user_not_found`. */
  person(surface: Surface, id: string): Promise<UserRecord>
  /**
   * The same for a change. Throws `own_account` (409) for the caller's account, and `permission_denied` for an
   * operator with a shortcut role where the caller has none.
   */
  changeable(caller: Principal<'operator'>, surface: Surface, id: string): Promise<UserRecord>
  /** Throws `permission_denied` unless the caller has a shortcut role, or the role is none. */
  requireMayAssign(caller: Principal<'operator'>, systemRole: string): Promise<void>
  /**
   * Throws `permission_denied` unless the caller holds those of these permissions that belong to the system set.
   * Otherwise an operator who may define roles could get every permission.
   */
  requireHolds(caller: Principal<'operator'>, permissions: readonly string[]): Promise<void>
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

  return {
    person,
    requireMayAssign,

    async changeable(caller, surface, id) {
      const user = await person(surface, id)
      if (surface === 'client') return user
      if (user.id === caller.userId) {
        throw new Refusal(409, 'own_account', 'This is your own account. Ask another operator.')
      }
      await requireMayAssign(caller, user.systemRole)
      return user
    },

    async requireHolds(caller, permissions) {
      for (const key of permissions.filter((one) => systemKeys.has(one))) {
        await auth.operator.requirePermission(caller, key)
      }
    },
  }
}
