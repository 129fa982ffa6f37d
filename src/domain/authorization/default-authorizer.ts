import { selfPermissions } from '../../model/permissions.js'
import type { Authorizer } from '../../ports/host.js'

/**
 * The authorizer of a host that brings none: every enabled person may manage their own account,
 * and nothing else is allowed.
 */
export const defaultAuthorizer: Authorizer = {
  async check({ kind, permission }) {
    return kind === '' && selfPermissions.includes(permission)
  },
}
