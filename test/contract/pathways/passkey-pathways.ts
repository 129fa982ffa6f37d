import {
  passkeyAfterPassword,
  passwordless,
  registrationByTicket,
} from '../../flows/passkey-flows.js'
import type { Pathway, Strength } from './pathway.js'
import { enrollmentCells, ticketCells } from './second-factor-pathways.js'

const byPasskey: Strength = {
  shows: 'the password, and a passkey',
  factors: 2,
  resistsPhishing: 'the second factor',
  aal: 2,
  amr: ['pwd', 'pop', 'user', 'mfa'],
}

export const passkeyPathways: readonly Pathway[] = [
  { flow: passkeyAfterPassword, strength: byPasskey, cells: ticketCells },
  {
    flow: passwordless,
    strength: {
      shows: 'a passkey that verified the person by a PIN or a biometric',
      factors: 2,
      resistsPhishing: 'yes',
      aal: 2,
      amr: ['pop', 'user', 'mfa'],
    },
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
  {
    flow: registrationByTicket,
    // Whoever has the password registers a passkey of theirs.
    strength: { ...byPasskey, shows: 'the password, and a passkey registered with it', aal: 1 },
    cells: enrollmentCells,
  },
]
