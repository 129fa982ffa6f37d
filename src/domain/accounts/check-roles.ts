import { isPeopleOnlyRole } from '../../engine/accounts.js'
import { AuthError } from '../../errors/index.js'
import { isHuman, type User } from '../../model/user.js'

/** Fails closed: an account that cannot be read does not count as a person. */
export function checkRoles(roles: readonly string[], user: User | null): void {
  if (!roles.some(isPeopleOnlyRole)) return
  if (user === null || !isHuman(user)) throw new AuthError('role_not_assignable')
}
