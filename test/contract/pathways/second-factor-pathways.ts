import {
  backupCodeAfterPassword,
  codeAfterPassword,
  enrollmentByTicket,
} from '../../flows/second-factor-flows.js'
import type { Pathway } from './pathway.js'

/** Of a login whose password was right, and whose ticket was issued before the control came. */
export const ticketCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'tokens',
  'a policy that wants a second factor': 'tokens',
  'a disabled account': '401 mfa_ticket_invalid',
  'a service principal': '401 mfa_ticket_invalid',
  'an unverified address': '403 email_not_verified',
  // The password was shown already, and each kind of secret has guesses of its own.
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '401 mfa_ticket_invalid',
}

/** Of a first factor that is set up on the way in. */
export const enrollmentCells: Pathway['cells'] = {
  ...ticketCells,
  'a second factor': { cannot: 'who has a factor gets no ticket for enrolling one' },
  'a policy that wants a second factor': { cannot: 'it is in force, or nothing would be enrolled' },
}

export const secondFactorPathways: readonly Pathway[] = [
  { flow: codeAfterPassword, cells: ticketCells },
  { flow: backupCodeAfterPassword, cells: ticketCells },
  { flow: enrollmentByTicket, cells: enrollmentCells },
]
