import {
  passkeyAfterPassword,
  passwordless,
  registrationByTicket,
} from '../../flows/passkey-flows.js'
import type { Pathway } from './pathway.js'
import { enrollmentCells, ticketCells } from './second-factor-pathways.js'

export const passkeyPathways: readonly Pathway[] = [
  { flow: passkeyAfterPassword, cells: ticketCells },
  {
    flow: passwordless,
    cells: {
      nothing: 'tokens',
      // It is both factors, which is what a second one and the policy ask for.
      'a second factor': 'tokens',
      'a policy that wants a second factor': 'tokens',
      'a disabled account': '401 invalid_credentials',
      'a service principal': '401 invalid_credentials',
      'an unverified address': '403 email_not_verified',
      'guesses at the password used up': 'tokens',
      'requests used up': '429 rate_limited',
      'the other surface': '401 invalid_credentials',
    },
  },
  { flow: registrationByTicket, cells: enrollmentCells },
]
