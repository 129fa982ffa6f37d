import type { LoginTicket } from '../../model/login-ticket.js'
import { isHuman, type User } from '../../model/user.js'

/** Whether the account is as it was when the ticket's first factor was accepted. */
export function isStillGood(ticket: LoginTicket, user: User): boolean {
  const { sessionEpoch, credentialEpoch, deviceEpoch, enabled } = user
  const isSame = sessionEpoch === ticket.sessionEpoch && credentialEpoch === ticket.credentialEpoch
  // Enrolment itself changes factors.
  const sameFactors = ticket.purpose === 'enrollment' || deviceEpoch === ticket.deviceEpoch
  return isSame && sameFactors && enabled && isHuman(user)
}
