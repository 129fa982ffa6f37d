import {
  mailedCode,
  mailedCodeInApp,
  mobilePassword,
  password,
  registration,
} from '../../flows/login-flows.js'
import { changeLink, resetLink, verificationLink } from '../../flows/mail-flows.js'
import type { Pathway, Strength } from './pathway.js'

const passwordCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'mfaRequired',
  'a policy that wants a second factor': 'mfaEnrollmentRequired',
  'a disabled account': '401 invalid_credentials',
  'a service principal': '401 invalid_credentials',
  'an unverified address': '403 email_not_verified',
  'guesses at the password used up': '429 rate_limited',
  'requests used up': '429 rate_limited',
  'the other surface': '401 invalid_credentials',
}

const byPassword: Strength = {
  shows: 'the password',
  factors: 1,
  resistsPhishing: 'no',
  aal: 1,
  amr: ['pwd'],
}

/** The mailbox is proved, and no session begins. */
const byLink: Strength = {
  shows: 'a link mailed to the address',
  factors: null,
  resistsPhishing: 'no',
  aal: null,
  amr: null,
}

const isNew = { cannot: 'the account is made by this request' }

/** A link proves the address and opens no session. */
const linkCells: Pathway['cells'] = {
  nothing: '204',
  'a second factor': '204',
  'a policy that wants a second factor': '204',
  'a disabled account': '400 invalid_token',
  'a service principal': '400 invalid_token',
  'an unverified address': '204',
  'guesses at the password used up': '204',
  'requests used up': '429 rate_limited',
  'the other surface': '400 invalid_token',
}

const confirmationCells: Pathway['cells'] = {
  ...linkCells,
  nothing: 'verified',
  'a second factor': 'verified',
  'a policy that wants a second factor': 'verified',
  'an unverified address': 'verified',
  'guesses at the password used up': 'verified',
}

export const passwordPathways: readonly Pathway[] = [
  { flow: password, strength: byPassword, cells: passwordCells },
  { flow: mobilePassword, strength: byPassword, cells: passwordCells },
  {
    flow: registration,
    strength: { ...byPassword, shows: 'a new password' },
    cells: {
      nothing: 'tokens',
      'a second factor': isNew,
      // An account takes a factor once its mailbox is proved.
      'a policy that wants a second factor': 'verificationRequired',
      'a disabled account': isNew,
      'a service principal': isNew,
      'an unverified address': { cannot: 'the address needs no confirmation, as the name says' },
      'guesses at the password used up': isNew,
      'requests used up': '429 rate_limited',
      'the other surface': { cannot: 'it is a registration there' },
    },
  },
  ...[mailedCode, mailedCodeInApp].map((flow) => ({
    flow,
    // Mail counts as no authenticator (NIST SP 800-63B-4, 3.1.3.1).
    strength: { ...byPassword, shows: 'a code mailed to the address', aal: null, amr: ['otp'] },
    cells: {
      ...passwordCells,
      'an unverified address': 'tokens',
      'guesses at the password used up': 'tokens',
    },
  })),
  { flow: resetLink, strength: byLink, cells: linkCells },
  { flow: verificationLink, strength: byLink, cells: confirmationCells },
  // The access token of the session that asked comes along.
  {
    flow: changeLink,
    strength: { ...byLink, shows: 'a link mailed to the address, within the session that asked' },
    cells: { ...confirmationCells, 'the other surface': '401 audience_mismatch' },
  },
]
