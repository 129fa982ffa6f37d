import type { EndReason } from '../../ports/events.js'

/** Endings that follow from what the owner did: showed a credential, or set a password. */
export function isOwnAct(reason: EndReason): boolean {
  return reason === 'logout' || reason === 'password_change' || reason === 'factor_change'
}
