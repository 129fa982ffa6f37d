import {
  backupCodeAfterPassword,
  codeAfterPassword,
  enrollmentByTicket,
} from '../../flows/second-factor-flows.js'
import type { Pathway, Strength } from './pathway.js'

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
  'a second factor': { cannot: 'an account with a factor gets no ticket for enrolling one' },
  'a policy that wants a second factor': { cannot: 'it is in force, or nothing would be enrolled' },
}

const byCode: Strength = {
  shows: 'the password, and a code of the authenticator app',
  factors: 2,
  resistsPhishing: 'no',
  aal: 2,
  amr: ['pwd', 'otp', 'mfa'],
}

export const secondFactorPathways: readonly Pathway[] = [
  { flow: codeAfterPassword, strength: byCode, cells: ticketCells },
  {
    flow: backupCodeAfterPassword,
    strength: { ...byCode, shows: 'the password, and a backup code' },
    cells: ticketCells,
  },
  {
    flow: enrollmentByTicket,
    // Whoever has the password enrolls an app of theirs.
    strength: {
      ...byCode,
      shows: 'the password, and a code of an authenticator app enrolled with it',
      aal: 1,
    },
    cells: enrollmentCells,
  },
]
