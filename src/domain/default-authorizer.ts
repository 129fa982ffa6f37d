import type { Authorizer } from '../ports/authorizer.js'

const selfKeys: readonly string[] = ['auth.self', 'auth.mfa.self']

/**
 * The authorizer of a host that brings none: every enabled person may manage their own account,
 * and nobody anything else.
 */
export const defaultAuthorizer: Authorizer = {
  async check({ kind, permission }) {
    return kind === 'human' && selfKeys.includes(permission)
  },
}
