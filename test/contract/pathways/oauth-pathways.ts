import {
  appCode,
  appleCallback,
  codeAfterApple,
  codeAfterGoogle,
  codeAfterProvider,
  googleCallback,
} from '../../flows/oauth-flows.js'
import type { Pathway, Strength } from './pathway.js'
import { ticketCells } from './second-factor-pathways.js'

const callbackCells: Pathway['cells'] = {
  nothing: 'tokens',
  'a second factor': 'mfaRequired',
  'a policy that wants a second factor': 'mfaEnrollmentRequired',
  'a disabled account': 'oauth_failed',
  'a service principal': 'oauth_failed',
  'an unverified address': 'email_not_verified',
  // No password is asked for.
  'guesses at the password used up': 'tokens',
  'requests used up': '429 rate_limited',
  'the other surface': '400 invalid_oauth_state',
}

const notTheirs = '401 mfa_ticket_invalid'
const strangerCells: Pathway['cells'] = {
  nothing: notTheirs,
  'a second factor': notTheirs,
  'a policy that wants a second factor': notTheirs,
  'a disabled account': notTheirs,
  'a service principal': notTheirs,
  'an unverified address': notTheirs,
  'guesses at the password used up': notTheirs,
  'requests used up': '429 rate_limited',
  'the other surface': notTheirs,
}

/** How the provider asked the person is not read. */
const byProvider: Strength = {
  shows: 'the answer of an identity provider',
  factors: 1,
  resistsPhishing: 'as the provider',
  aal: 1,
  amr: [],
}
const byProviderAndCode: Strength = {
  shows: 'the answer of an identity provider, and a code of the authenticator app',
  factors: 2,
  resistsPhishing: 'as the provider',
  aal: 2,
  amr: ['otp', 'mfa'],
}

export const oauthPathways: readonly Pathway[] = [
  { flow: googleCallback, strength: byProvider, cells: callbackCells },
  { flow: appleCallback, strength: byProvider, cells: callbackCells },
  { flow: codeAfterGoogle, strength: byProviderAndCode, cells: ticketCells },
  { flow: codeAfterApple, strength: byProviderAndCode, cells: ticketCells },
  {
    flow: codeAfterProvider(
      'a code of the authenticator app after a flow of another browser',
      'google',
      false,
    ),
    strength: null,
    cells: strangerCells,
  },
  {
    flow: appCode,
    strength: byProvider,
    cells: {
      ...callbackCells,
      'a disabled account': '400 invalid_token',
      'a service principal': '400 invalid_token',
      'an unverified address': '403 email_not_verified',
      'the other surface': '400 invalid_token',
    },
  },
]
